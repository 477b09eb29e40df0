// An app that is bundled: with the package external, as the README says, and with the package taken
// into the bundle, which must work where the package is installed and say what is wrong where it is not.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command, createApp, oneCall, oneCallImports, root, tool } from './app.js';
import type { App } from './app.js';

const leftBehind = 'ferrule was bundled, and its native parts were left behind';
const formats = [
  ['esm', 'mjs'],
  ['cjs', 'cjs'],
] as const;
let app: App;
let elsewhere: string;

beforeAll(() => {
  app = createApp('bundlers');
  elsewhere = mkdtempSync(join(tmpdir(), 'ferrule-bundle-'));
  app.write(
    'entry.ts',
    `${oneCallImports}
     import { runBridgedSource } from 'ferrule/sandbox';
     ${oneCall}
     run()
       .then(([one]) => console.log((one!.outcome as { output: unknown }).output))
       .then(() => runBridgedSource({ source: 'return 6 * 7', allowedTools: [], dispatch: async () => undefined }))
       .then((script) => console.log(script.ok ? script.output : script.error.message));`,
  );
});
afterAll(() => {
  app?.remove();
  rmSync(elsewhere, { recursive: true, force: true });
});

function bundled(program: string, args: readonly string[]): void {
  const made = command(program, args, { cwd: app.folder });
  expect(made.status, `${made.stdout}${made.stderr}`).toBe(0);
}

/** Runs a file of the app's folder and expects both the call and the script to have worked. */
function works(file: string, options: { cwd?: string; env?: Record<string, string> } = {}): void {
  const ended = command(process.execPath, [file], { cwd: app.folder, ...options });
  expect(ended.stdout, ended.stderr).toBe('hello you\n42\n');
}

const esbuild = (format: string, out: string, ...more: string[]): void =>
  bundled(tool('esbuild'), ['entry.ts', '--bundle', '--platform=node', '--target=node20', `--format=${format}`, `--outfile=${out}`, ...more]);

/** Webpack has no command line of its own: its interface is called, in a process that can reach it. */
function webpack(format: 'esm' | 'cjs', out: string, external: boolean): void {
  bundled(tool('esbuild'), ['entry.ts', '--format=esm', '--outfile=entry.mjs']);
  const config = {
    mode: 'production',
    context: app.folder,
    target: 'node20',
    entry: './entry.mjs',
    output: { path: app.folder, filename: out, ...(format === 'esm' ? { module: true, chunkFormat: 'module' } : {}) },
    // Its minifier takes longer than everything else here; esbuild's is in the tests.
    optimization: { minimize: false },
    experiments: { outputModule: format === 'esm' },
    ...(external ? { externalsType: format === 'esm' ? 'module' : 'commonjs' } : {}),
  };
  const script = app.write(
    'webpack.cjs',
    `const config = ${JSON.stringify(config)};
     ${external ? 'config.externals = [/^ferrule(\\/|$)/];' : ''}
     require(${JSON.stringify(join(root, 'node_modules', 'webpack'))})(config, (error, stats) => {
       if (error) throw error;
       console.log(stats.toString({ preset: 'errors-warnings' }));
       process.exitCode = stats.hasErrors() || stats.hasWarnings() ? 1 : 0;
     });`,
  );
  bundled(process.execPath, [script]);
}

describe('with the package external (P62)', () => {
  test.each(formats)('esbuild, %s', (format, ending) => {
    esbuild(format, `esbuild.${ending}`, '--external:ferrule', '--external:ferrule/*');
    works(`esbuild.${ending}`);
  });

  test.each(formats)('webpack, %s', (format, ending) => {
    webpack(format, `webpack.${ending}`, true);
    works(`webpack.${ending}`);
  });

  test.each([
    ['rolldown', ['-c', 'rolldown.config.mjs'], 'rolled.mjs'],
    ['vite', ['build', '--ssr', 'entry.ts', '--outDir', 'vited', '--logLevel', 'error'], 'vited/entry.js'],
  ])('%s', (bundler, args, out) => {
    app.write(
      'rolldown.config.mjs',
      `export default { input: 'entry.ts', platform: 'node', external: /^ferrule(\\/|$)/, output: { format: 'esm', file: 'rolled.mjs' } };`,
    );
    bundled(tool(bundler), args);
    works(out);
  });

  test('types-only imports leave nothing behind', () => {
    app.write('types.ts', `import type { RunContext } from 'ferrule/core'; export const id = (context: RunContext): string => context.runId;`);
    expect(command(tool('esbuild'), ['types.ts', '--format=esm'], { cwd: app.folder }).stdout).not.toContain('ferrule');
  });
});

describe('with the package inside the bundle', () => {
  const inside: [string, string, () => void][] = [
    ...formats.map(([format, ending]): [string, string, () => void] => [
      `esbuild, ${format}`,
      `inside/esbuild.${ending}`,
      () => esbuild(format, `inside/esbuild.${ending}`, '--minify'),
    ]),
    ...formats.map(([format, ending]): [string, string, () => void] => [
      `webpack, ${format}`,
      `inside/webpack.${ending}`,
      () => webpack(format, `inside/webpack.${ending}`, false),
    ]),
    [
      'vite',
      'inside/vite/entry.js',
      () => {
        app.write('inside.config.mjs', 'export default { ssr: { noExternal: true } };');
        bundled(tool('vite'), ['build', '--config', 'inside.config.mjs', '--ssr', 'entry.ts', '--outDir', 'inside/vite', '--logLevel', 'error']);
      },
    ],
  ];

  test.each(inside)('%s: it works where the package is installed', (_, out, make) => {
    make();
    works(out);
  });

  test.each(inside)('%s: elsewhere the error says what is wrong, and the two variables mend it', (name, out) => {
    // Webpack writes the place of the sources into the bundle; it must not be there either.
    const away = join(app.folder, 'node_modules', 'ferrule');
    const hidden = join(app.folder, 'hidden');
    const folder = mkdtempSync(join(elsewhere, 'app-'));
    const file = join(folder, 'bundle', basename(out));
    cpSync(join(app.folder, out), file);
    if (file.endsWith('.js')) writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    mkdirSync(hidden, { recursive: true });
    renameSync(away, join(hidden, 'ferrule'));
    try {
      const ended = command(process.execPath, [file], { cwd: folder });
      expect(ended.status, name).not.toBe(0);
      expect(ended.stderr).toContain(leftBehind);
      expect(ended.stderr).toContain('FERRULE_BINDING_NOT_FOUND');
      expect(ended.stderr).toMatch(/Fix: leave the package external.*FERRULE_BINDING.*FERRULE_SANDBOX/);
      const native = join(hidden, 'ferrule', 'native');
      const addon = readdirSync(native).find((one) => one.endsWith('.node'))!;
      const sandbox = readdirSync(native).find((one) => one.startsWith('ferrule-sandbox'))!;
      works(file, { cwd: folder, env: { FERRULE_BINDING: join(native, addon), FERRULE_SANDBOX: join(native, sandbox) } });
    } finally {
      renameSync(join(hidden, 'ferrule'), away);
    }
  });

  test('what lies in the current directory is not run', () => {
    const folder = join(elsewhere, 'stranger');
    const theirs = join(folder, 'repository', 'node_modules', 'ferrule');
    mkdirSync(join(theirs, 'native'), { recursive: true });
    cpSync(join(app.folder, 'inside', 'esbuild.mjs'), join(folder, 'bundle', 'esbuild.mjs'));
    const { version } = JSON.parse(readFileSync(join(app.installed, 'package.json'), 'utf8')) as { version: string };
    writeFileSync(join(theirs, 'package.json'), JSON.stringify({ name: 'ferrule', version }));
    writeFileSync(join(theirs, 'native', 'binding.cjs'), 'console.log("theirs was run"); module.exports = { load() {} };');
    const ended = command(process.execPath, [join(folder, 'bundle', 'esbuild.mjs')], { cwd: join(folder, 'repository') });
    expect(ended.stdout).not.toContain('theirs was run');
    expect(ended.stderr).toContain(leftBehind);
  });

  test('another version than the bundled one is refused', () => {
    const folder = join(elsewhere, 'other-version');
    const other = join(folder, 'node_modules', 'ferrule');
    mkdirSync(other, { recursive: true });
    cpSync(join(app.folder, 'inside', 'esbuild.mjs'), join(folder, 'bundle', 'esbuild.mjs'));
    writeFileSync(join(other, 'package.json'), '{"name":"ferrule","version":"0.0.1"}');
    const ended = command(process.execPath, [join(folder, 'bundle', 'esbuild.mjs')], { cwd: folder });
    expect(ended.stderr).toMatch(/package\.json is version 0\.0\.1, the bundle holds \d/);
  });
});

describe('for the browser', () => {
  const browser = (name: string, text: string): ReturnType<typeof command> => {
    app.write(`${name}.ts`, text);
    bundled(tool('esbuild'), [`${name}.ts`, '--bundle', '--platform=browser', '--format=esm', `--outfile=${name}.mjs`]);
    return command(process.execPath, [`${name}.mjs`], { cwd: app.folder });
  };

  test('P62: the error says what is wrong', () => {
    const ended = browser('server-part', `import { createToolRegistry } from 'ferrule/registry'; createToolRegistry();`);
    expect(ended.status).not.toBe(0);
    expect(ended.stderr).toContain('ferrule runs on a server');
  });

  test('contracts and errors work', () => {
    const ended = browser('contracts', `import { zeroUsage } from 'ferrule/core'; import { ToolCollisionError } from 'ferrule/errors';
      console.log(zeroUsage().totalTokens, ToolCollisionError.name);`);
    expect(ended.stdout, ended.stderr).toBe('0 ToolCollisionError\n');
  });
});
