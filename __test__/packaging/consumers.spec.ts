// What else meets the package: TypeScript in three module resolutions, a bundler, publint, attw.
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command, createApp, filesOf, oneCall, root, specifier, subpaths } from './app.js';
import type { App } from './app.js';

let app: App;
beforeAll(() => {
  app = createApp('consumers');
});
afterAll(() => app?.remove());

const tool = (name: string): string => join(root, 'node_modules', '.bin', name);

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

describe('bundlers', () => {
  test('P62: an esbuild bundle with ferrule external runs', () => {
    app.write(
      'entry.ts',
      `import { createToolExecutor, createToolRegistry, tool } from 'ferrule';
       import { NOOP_TRACER, zeroUsage } from 'ferrule/core';
       import { z } from 'zod';
       ${oneCall}
       run().then(([done]) => console.log((done!.outcome as { output: unknown }).output));`,
    );
    for (const format of ['esm', 'cjs']) {
      const out = `bundle.${format === 'esm' ? 'mjs' : 'cjs'}`;
      const made = command(
        tool('esbuild'),
        ['entry.ts', '--bundle', '--platform=node', '--target=node20', `--format=${format}`, '--external:ferrule', '--external:ferrule/*', `--outfile=${out}`],
        { cwd: app.folder },
      );
      expect(made.status, made.stderr).toBe(0);
      const ended = command(process.execPath, [out], { cwd: app.folder });
      expect(ended.stdout, ended.stderr).toBe('hello you\n');
    }
  });

  test.each([
    ['rolldown', ['-c', 'rolldown.config.mjs'], 'rolled.mjs'],
    ['vite', ['build', '--ssr', 'entry.ts', '--outDir', 'vited', '--logLevel', 'error'], 'vited/entry.js'],
  ])('P62: a %s bundle runs', (bundler, args, out) => {
    app.write(
      'rolldown.config.mjs',
      `export default { input: 'entry.ts', platform: 'node', external: /^ferrule(\\/|$)/, output: { format: 'esm', file: 'rolled.mjs' } };`,
    );
    const made = command(tool(bundler), args, { cwd: app.folder });
    expect(made.status, `${made.stdout}${made.stderr}`).toBe(0);
    const ended = command(process.execPath, [out], { cwd: app.folder });
    expect(ended.stdout, ended.stderr).toBe('hello you\n');
  });

  test('P62: a bundle for the browser says what is wrong', () => {
    app.write('browser.ts', `import { createToolRegistry } from 'ferrule/registry'; createToolRegistry();`);
    const made = command(tool('esbuild'), ['browser.ts', '--bundle', '--platform=browser', '--format=esm', '--outfile=browser.mjs'], { cwd: app.folder });
    expect(made.status, made.stderr).toBe(0);
    const ended = command(process.execPath, ['browser.mjs'], { cwd: app.folder });
    expect(ended.status).not.toBe(0);
    expect(ended.stderr).toContain('ferrule runs on a server');
  });

  test('node --test runs a suite that uses it', () => {
    app.write(
      'suite.test.mjs',
      `import assert from 'node:assert'; import test from 'node:test';
       import { createToolExecutor, createToolRegistry, tool } from 'ferrule';
       import { NOOP_TRACER, zeroUsage } from 'ferrule/core';
       import { z } from 'zod';
       ${oneCall}
       test('a call', async () => assert.equal((await run())[0].outcome.output, 'hello you'));`,
    );
    const ended = command(process.execPath, ['--test', 'suite.test.mjs'], { cwd: app.folder });
    expect(ended.status, ended.stdout).toBe(0);
    expect(ended.stdout).toMatch(/pass 1/);
  });

  test('P62: types-only imports leave nothing behind', () => {
    app.write('types.ts', `import type { RunContext } from 'ferrule/core'; export const id = (context: RunContext): string => context.runId;`);
    const made = command(tool('esbuild'), ['types.ts', '--format=esm'], { cwd: app.folder });
    expect(made.stdout).not.toContain('ferrule');
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
