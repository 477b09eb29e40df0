// What else meets the package: TypeScript in three module resolutions, publint, attw. Bundlers and test
// runners have files of their own.
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command, createApp, filesOf, root, specifier, subpaths, tool } from './app.js';
import type { App } from './app.js';

let app: App;
beforeAll(() => {
  app = createApp('consumers');
});
afterAll(() => app?.remove());

describe('TypeScript', () => {
  beforeAll(() => {
    // A consumer has the types of Node; that is all it needs beside us.
    mkdirSync(join(app.folder, 'node_modules', '@types'), { recursive: true });
    for (const name of ['@types/node', 'undici-types']) {
      cpSync(join(root, 'node_modules', name), join(app.folder, 'node_modules', name), { recursive: true, dereference: true });
    }
    app.write(
      'consumer.ts',
      `${subpaths.map((subpath, index) => `import * as m${index} from '${specifier(subpath)}';`).join('\n')}
       import { createToolExecutor, createToolRegistry, tool } from 'ferrule';
       import type { CompletedToolCall, RunContext } from 'ferrule/core';
       import { z } from 'zod';
       void [${subpaths.map((_, index) => `m${index}`).join(', ')}];
       const registry = createToolRegistry();
       registry.register(tool({
         name: 'a', description: 'd', inputSchema: z.object({ n: z.number() }), outputSchema: z.object({ twice: z.number() }),
         execute: async ({ n }) => ({ twice: n * 2 }),
       }));
       export const run = async (runContext: RunContext): Promise<readonly CompletedToolCall[]> =>
         createToolExecutor({ registry }).executeBatch({ calls: [], runContext, stepNumber: 1 });
       // @ts-expect-error the declarations are no \`any\`
       tool({ name: 1 });
      `,
    );
  });

  test.each([
    ['node16', { module: 'node16', moduleResolution: 'node16' }],
    ['nodenext', { module: 'nodenext', moduleResolution: 'nodenext' }],
    ['bundler', { module: 'esnext', moduleResolution: 'bundler' }],
  ])('moduleResolution %s compiles, with the libraries checked', (name, options) => {
    app.write(
      `tsconfig.${name}.json`,
      JSON.stringify({
        compilerOptions: { ...options, target: 'es2022', lib: ['es2023'], strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true, types: ['node'] },
        files: ['consumer.ts'],
      }),
    );
    const ended = command(tool('tsc'), ['-p', `tsconfig.${name}.json`], { cwd: app.folder });
    // zod's own declarations are not ours to judge.
    const faults = ended.stdout.split('\n').filter((line) => /error TS/.test(line) && !line.startsWith('node_modules/zod/'));
    expect(faults).toEqual([]);
  });

  test('the declarations name no concrete zod type and nothing outside the package', () => {
    const declarations = filesOf(join(app.installed, 'dist')).filter((file) => file.endsWith('.d.ts'));
    expect(declarations.length).toBeGreaterThan(subpaths.length);
    const named = declarations
      .map((file) => [file, readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')] as const)
      .flatMap(([file, text]) =>
        [/\bZod[A-Z]\w*</, /from ['"]zod/, /import\(['"]zod/, /from ['"]@graphorin/]
          .filter((pattern) => pattern.test(text))
          // The structural stand-ins of the contracts are ours.
          .filter((pattern) => !(pattern.source.startsWith('\\bZod') && !/\bZod(?!Like)[A-Z]\w*</.test(text)))
          .map((pattern) => `${file.slice(app.installed.length + 1)}: ${pattern.source}`),
      );
    expect(named).toEqual([]);
  });
});

describe('checkers', () => {
  test('publint finds nothing', () => {
    const ended = command(tool('publint'), ['run', app.installed, '--strict'], { cwd: app.folder });
    expect(ended.status, `${ended.stdout}${ended.stderr}`).toBe(0);
  });

  // ESM only by decision: what only CommonJS or the old resolution would see is left out by the profile.
  test('arethetypeswrong finds nothing', () => {
    const ended = command(tool('attw'), [app.tarball, '--profile', 'esm-only', '--no-color', '--no-emoji'], { cwd: app.folder });
    expect(ended.status, `${ended.stdout}${ended.stderr}`).toBe(0);
  });
});
