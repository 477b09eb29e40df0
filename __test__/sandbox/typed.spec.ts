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

describe('what is no type stays', () => {
  it('reads calls as comparisons when they compare what is there', async () => {
    expect(await output('const a = 1, b = 2, c = 0; return a<b>(c)')).toBe(true);
    expect(await output('const f = (x) => x, Item = 1; return f(2<Item, 3>(Item))')).toBe(false);
  });

  it.each([
    ['const f = (x) => x; return f<Item>(1)', 1],
    ['const f = (x) => x; return [1].map((x) => f<Map<string, Date>>(x))', [1]],
    ['const f = (x) => x; class Item {}; return [new Set<Item>([]).size, f<Item>(2)]', [0, 2]],
    ['const tag = (parts) => parts[0]; return tag<Row>`a`', 'a'],
  ])('reads them as TypeScript does when they cannot: %s', async (source, expected) => {
    expect(await output(source)).toEqual(expected);
  });

  it.each(['enum A { B = 1 }\nreturn A.B', 'namespace N { export const x = 1 }\nreturn N.x', 'const x: number = 1;\nconst enum E { A }'])(
    'leaves code alone that only TypeScript has: %s',
    async (source) => {
      expect(await failure(source)).toMatch(/^SyntaxError: .*Write plain JavaScript: leave out type annotations, interfaces, enums and generics$/);
    },
  );

  it('tells a mistake behind types where it is', async () => {
    expect(await failure('const a: number = 1;\nconst b: string[] = ];')).toMatch(/^SyntaxError: .* at line 2, column 21$/);
  });

  it.each([
    ['interface A { é: 1 }\nconst a: A = { é: 1 }; throw new Error("x")', '\nconst a    = { é: 1 }; throw new Error("x")'],
    ['type A =\r\n  | "😀"; const a: A = null!; a!.b', '\r\n         const a    = null ; a .b'],
  ])('keeps positions: %s', async (typed, plain) => {
    expect(await failure(typed)).toBe(await failure(plain));
  });
});

describe('deep and large sources end cleanly', () => {
  const nest = (n: number, open: string, inside: string, close: string) => open.repeat(n) + inside + close.repeat(n);

  it.each([
    ['brackets', `const x: number[] = ${nest(10_000, '[', '1', ']')}; return 1`],
    ['rounds', `const x: number = ${nest(10_000, '(', '1', ')')}; return 1`],
    ['templates', `const x: string = ${nest(10_000, '`${', '1', '}`')}; return 1`],
    ['angles', `let x: ${nest(100_000, 'A<', 'B', '>')}; return 1`],
    ['open angles', `let x: ${'A<'.repeat(100_000)}`],
    ['angles in values', `return ${nest(100_000, 'a<', 'b', '>(1)')}`],
    ['types in rounds', `let x: ${nest(100_000, '(', 'A', ')')}; return 1`],
    ['sums', `const x: number = 1${'+1'.repeat(100_000)}; return 1`],
  ])('%s', async (_, source) => {
    expect(await failure(source)).toBe('the script was nested or recursed too deeply (stack overflow)');
  });

  it.each([
    ['angles', `let x: ${nest(5000, 'A<', 'B', '>')}; return 1`],
    ['unions', `let x: ${'A | '.repeat(100_000)} B; return 1`],
    ['assertions', `const x: any = ${'<any>'.repeat(5000)} 1; return x`],
    ['bangs', `const x: any = 1; return x${'!'.repeat(10_000)}`],
    ['a long comment', `const x: number = 1; /* ${'é'.repeat(400_000)} */ return x as number`],
  ])('%s that fit are fine', async (_, source) => {
    expect(await output(source)).toBe(1);
  });

  it('open rounds are a syntax error', async () => {
    expect(await failure(`const x: number = ${'('.repeat(10_000)}`)).toMatch(/^SyntaxError: /);
  });
});
