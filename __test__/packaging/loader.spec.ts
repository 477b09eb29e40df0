// Cases P60 and P61: what a person reads when the binary is not there, and the ways around it.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command, createApp, root } from './app.js';
import type { App } from './app.js';

let app: App;
let binary: string;
const isBinary = (file: string): boolean => file.endsWith('.node');

beforeAll(() => {
  app = createApp('loader');
  const native = join(app.installed, 'native');
  const [name] = readdirSync(native).filter(isBinary);
  binary = join(app.folder, 'elsewhere.node');
  copyFileSync(join(native, name!), binary);
  for (const file of readdirSync(native).filter(isBinary)) rmSync(join(native, file));
});
afterAll(() => app?.remove());

/** Loads the addon by the first thing that needs it. */
const load = (env: Record<string, string> = {}): ReturnType<typeof command> =>
  command(
    process.execPath,
    ['-e', `const { incrementCounter, getCounterForTesting } = require('ferrule/audit');
      try { incrementCounter('a.total'); console.log('loaded', getCounterForTesting('a.total')); }
      catch (error) { console.log(JSON.stringify({ code: error.code, message: error.message, cause: String(error.cause?.message) })); }`],
    { cwd: app.folder, env },
  );

interface Shown {
  readonly code: string;
  readonly message: string;
  readonly cause: string;
}
const failure = (env?: Record<string, string>): Shown => JSON.parse(load(env).stdout) as Shown;

describe('without a binary', () => {
  test('the error names platform, Node, every path tried, the last cause and the fix', () => {
    const { code, message, cause } = failure();
    expect(code).toBe('FERRULE_BINDING_NOT_FOUND');
    expect(message).toContain(`${process.platform}-${process.arch}`);
    expect(message).toContain(process.version);
    expect(message).toMatch(/local build ferrule\.\S+\.node/);
    expect(message).toMatch(/package ferrule-\S+/);
    expect(message).toMatch(/Fix: .*--include=optional.*FERRULE_BINDING/s);
    expect(cause).toContain('Cannot find module');
  });

  test('whoever catches it goes on: nothing is thrown at the end of the turn', () => {
    const { stdout } = command(
      process.execPath,
      ['-e', `const registry = require('ferrule/registry').createToolRegistry();
        const made = { name: 't', description: 'd', inputSchema: { type: 'object' }, execute: async () => 1, sideEffectClass: 'read-only', sandboxPolicy: 'docker' };
        try { registry.register(made); } catch (error) { console.log(error.code); }
        setTimeout(() => console.log('goes on'), 20);`],
      { cwd: app.folder },
    );
    expect(stdout).toBe('FERRULE_BINDING_NOT_FOUND\ngoes on\n');
  });

  test('P60: a file that is there and cannot be loaded is the cause that is shown', () => {
    const broken = join(app.folder, 'broken.node');
    writeFileSync(broken, 'no library');
    const { message, cause } = failure({ FERRULE_BINDING: broken });
    expect(message).toContain(broken);
    expect(cause).toMatch(/invalid ELF header|file too short|not a valid|dlopen|slice is not valid/i);
  });

  test('P61: FERRULE_BINDING loads it from anywhere', () => {
    expect(load({ FERRULE_BINDING: binary }).stdout).toBe('loaded 1\n');
  });

  test('P61: FERRULE_BINDING that is wrong does not fall back in silence', () => {
    const { message } = failure({ FERRULE_BINDING: join(app.folder, 'nowhere.node') });
    expect(message).toContain('nowhere.node');
    expect(message).not.toContain('local build');
  });

  test('the way past CommonJS is for whole paths, and for files that lie where installers put them', () => {
    // Every file that CommonJS loaded, seen from ES modules: none, where the addon is found without it.
    const loaded = (env: Record<string, string>): string =>
      command(
        process.execPath,
        ['--input-type=module', '-e', `const { incrementCounter, getCounterForTesting } = await import('ferrule/audit');
          incrementCounter('a.total');
          const { cache } = process.getBuiltinModule('node:module').createRequire('/');
          console.log(getCounterForTesting('a.total'), Object.keys(cache).map((file) => file.split(/[\\\\/]/).at(-1)).join());`],
        { cwd: app.folder, env },
      ).stdout.trim();
    expect(loaded({ FERRULE_BINDING: binary })).toBe('1');
    const relative = join('..', '..', '..', 'elsewhere.node');
    expect(loaded({ FERRULE_BINDING: relative })).toBe('1 binding.cjs,elsewhere.node');

    const [name] = readdirSync(join(root, 'native')).filter(isBinary);
    const installed = join(app.installed, '..', name!.replace(/\.node$/, '').replace('ferrule.', 'ferrule-'));
    mkdirSync(installed);
    copyFileSync(binary, join(installed, name!));
    try {
      expect(loaded({})).toBe('1');
    } finally {
      rmSync(installed, { recursive: true });
    }
  });

  test('P61: types, builder and core import and work', () => {
    const ended = command(
      process.execPath,
      ['-e', `const { tool } = require('ferrule'); const { toolReturn } = require('ferrule/core'); require('ferrule/errors');
        console.log(tool({ name: 'a', description: 'd', inputSchema: {}, execute: async () => 1 }).name, toolReturn({ output: 1 }).output)`],
      { cwd: app.folder },
    );
    expect(ended.stdout, ended.stderr).toBe('a 1\n');
  });
});

describe('on a platform that this machine only plays', () => {
  /** What `load()` says, and the triple, in a process that takes itself for another. */
  const played = (setup: string): Shown & { triple: string } => {
    const ended = command(
      process.execPath,
      ['-e', `${setup}; const loader = require('./node_modules/ferrule/native/binding.cjs');
        try { loader.load(); } catch (error) { console.log(JSON.stringify({ triple: loader.triple(), code: error.code, message: error.message, cause: String(error.cause?.message) })); }`],
      { cwd: app.folder },
    );
    return JSON.parse(ended.stdout) as Shown & { triple: string };
  };
  const is = (values: Record<string, string>): string =>
    Object.entries(values)
      .map(([key, value]) => `Object.defineProperty(process, '${key}', { value: ${JSON.stringify(value)} })`)
      .join(';');

  test('musl is read from the executable, and is what the error names', () => {
    const executable = app.write('node-of-alpine', '\x7fELF … /lib/ld-musl-x86_64.so.1 …');
    const { triple, code, message } = played(is({ platform: 'linux', arch: 'x64', execPath: executable }));
    expect(triple).toBe('linux-x64-musl');
    expect(code).toBe('FERRULE_BINDING_NOT_FOUND');
    expect(message).toContain('local build ferrule.linux-x64-musl.node');
    expect(message).toContain('package ferrule-linux-x64-musl');
  });

  test('glibc as well; an executable that names none is asked about in the report', () => {
    const executable = app.write('node-of-debian', '\x7fELF … /lib/ld-linux-aarch64.so.1 …');
    expect(played(is({ platform: 'linux', arch: 'arm64', execPath: executable })).triple).toBe('linux-arm64-gnu');
    const plain = app.write('node-linked-statically', '\x7fELF …');
    const asked = `process.report.getReport = () => ({ header: {} }); ${is({ platform: 'linux', arch: 'x64', execPath: plain })}`;
    expect(played(asked).triple).toBe('linux-x64-musl');
  });

  test.each([
    ['darwin', 'arm64', 'darwin-arm64'],
    ['win32', 'x64', 'win32-x64-msvc'],
  ])('%s %s', (platform, arch, triple) => {
    const shown = played(is({ platform, arch }));
    expect(shown.triple).toBe(triple);
    expect(shown.message).toContain(`ferrule has no native binding for ${triple}`);
    expect(shown.message).toContain(`package ferrule-${triple}`);
  });

  test.each([
    ['freebsd', 'x64'],
    ['linux', 'riscv64'],
  ])('%s %s is not supported, and the error says so', (platform, arch) => {
    const { message } = played(is({ platform, arch }));
    expect(message).toContain('nothing: this platform is not supported');
    expect(message).toMatch(/Fix: .*FERRULE_BINDING/);
  });
});

describe('the platform packages', () => {
  const checked = ['linux-x64-gnu', 'linux-arm64-gnu', 'linux-x64-musl', 'linux-arm64-musl', 'darwin-x64', 'darwin-arm64', 'win32-x64-msvc'];

  test('there is one for each target, of this version', () => {
    expect(readdirSync(join(root, 'npm')).sort()).toEqual([...checked].sort());
    const ended = command(process.execPath, ['scripts/npm-packages.mjs', '--check']);
    expect(ended.status, ended.stderr).toBe(0);
  });

  test('P60: the C library of a file is read from the file itself', async () => {
    const { kindOf, misfit } = await import('../../scripts/npm-packages.mjs');
    const manifest = { os: ['linux'], cpu: [process.arch], libc: ['musl'] };
    if (process.platform !== 'linux') return;
    const kind = kindOf(binary);
    expect(kind).toMatchObject({ os: 'linux', cpu: process.arch });
    if (kind.libc === 'gnu') expect(misfit(manifest, binary)).toMatch(/C library of gnu, not musl/);
    expect(misfit({ ...manifest, libc: ['glibc'], cpu: ['other'] }, binary)).toMatch(/not other/);
  });

  test('the package is found when it is the only place that has the binary', () => {
    const triple = command(process.execPath, ['-p', "require('./node_modules/ferrule/native/binding.cjs').triple()"], { cwd: app.folder }).stdout.trim();
    const folder = join(app.folder, 'node_modules', `ferrule-${triple}`);
    const made = command('npm', ['pack', join(root, 'npm', triple), '--dry-run', '--json', '--ignore-scripts'], { cwd: app.folder });
    expect(made.status, made.stderr).toBe(0);
    app.write('place.cjs', `const fs = require('node:fs'); fs.mkdirSync(${JSON.stringify(folder)}, { recursive: true });
      fs.copyFileSync(${JSON.stringify(join(root, 'npm', triple, 'package.json'))}, ${JSON.stringify(join(folder, 'package.json'))});
      fs.copyFileSync(${JSON.stringify(binary)}, ${JSON.stringify(join(folder, `ferrule.${triple}.node`))});`);
    expect(command(process.execPath, ['place.cjs'], { cwd: app.folder }).status).toBe(0);
    expect(existsSync(join(folder, `ferrule.${triple}.node`))).toBe(true);
    expect(load().stdout).toBe('loaded 1\n');
  });
});
