// A script with types gives in the sandbox what the TypeScript compiler makes of it gives in Node (issue 6, the proof).
import { readFileSync } from 'node:fs';
import { runBridgedSource } from 'ferrule/sandbox';
import ts from 'typescript';
import { describe, expect, it, test } from 'vitest';

/** `### name` and the script, again and again. */
const scripts = readFileSync(new URL('typed.scripts.txt', import.meta.url), 'utf8')
  .split(/^### /m)
  .slice(1)
  .map((part): [name: string, source: string] => {
    const end = part.indexOf('\n');
    return [part.slice(0, end), part.slice(end + 1, -1)];
  });

const run = (source: string) =>
  runBridgedSource({ source, allowedTools: ['echo'], dispatch: async ({ args }) => args });

async function output(source: string): Promise<unknown> {
  const result = await run(source);
  if (!result.ok) throw new Error(result.error.message);
  return result.output;
}

async function failure(source: string): Promise<string> {
  const result = await run(source);
  return result.ok ? `no error, but ${JSON.stringify(result.output)}` : result.error.message;
}

/** What the compiler's JavaScript gives. */
async function compiled(source: string): Promise<unknown> {
  const { outputText } = ts.transpileModule(`async function main(tools: any) { "use strict";\n${source}\n}`, {
    compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, removeComments: true },
  });
  const main = new Function(`${outputText}; return main;`)() as (tools: object) => Promise<unknown>;
  return main({ echo: async (args: unknown) => args });
}

describe('typed scripts mean what the compiler says', () => {
  test.each(scripts)('%s', async (_, source) => {
    expect(await output(source)).toEqual(await compiled(source));
  });

  test.each(scripts)('%s, with Windows line breaks', async (_, source) => {
    const windows = source.replaceAll('\n', '\r\n');
    expect(await output(windows)).toEqual(await compiled(windows));
  });

  it('has not become fewer', () => expect(scripts.length).toBeGreaterThanOrEqual(140));
});
