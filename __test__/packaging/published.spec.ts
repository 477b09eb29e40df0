// What we publish, from a registry of our own: the staged package and one package for each platform. npm
// itself chooses among them by os, cpu and libc. The other platforms' binaries are stand-ins.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stage } from '../../scripts/npm-packages.mjs';
import { command, oneCall, oneCallImports, pack, root, tool } from './app.js';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly os: string[];
  readonly cpu: string[];
  readonly libc?: string[];
  readonly main: string;
  readonly files: string[];
  readonly optionalDependencies?: Record<string, string>;
  readonly [key: string]: unknown;
}
const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
const triples = readdirSync(join(root, 'npm')).sort();
const ours = command(process.execPath, ['-p', "require('./native/binding.cjs').triple()"]).stdout.trim();
const linux = process.platform === 'linux';

let folder: string;
let registry: ChildProcess;
let address: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ferrule-published-'));
  const shelf = join(folder, 'shelf');
  mkdirSync(shelf);
  stage(join(folder, 'ferrule'));
  for (const triple of triples) {
    const to = join(folder, triple);
    cpSync(join(root, 'npm', triple), to, { recursive: true });
    for (const name of manifestOf(to).files) {
      if (triple === ours) copyFileSync(join(root, 'native', name), join(to, name));
      else writeFileSync(join(to, name), 'a stand-in');
      chmodSync(join(to, name), 0o755);
    }
  }
  const sources = [join(folder, 'ferrule'), ...triples.map((triple) => join(folder, triple)), ...['zod', '@standard-schema/spec'].map((name) => join(root, 'node_modules', name))];
  const index = sources.map((source) => ({ file: pack(source, shelf).slice(shelf.length + 1), manifest: manifestOf(source) }));
  writeFileSync(join(shelf, 'index.json'), JSON.stringify(index));
  registry = spawn(process.execPath, [join(root, '__test__', 'packaging', 'registry.mjs'), shelf], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(registry.stdout!, 'data')) as [Buffer];
  address = `http://127.0.0.1:${String(port).trim()}/`;
});
afterAll(() => {
  registry?.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** A new app whose packages come from our registry. */
function appOf(name: string): string {
  const app = join(folder, name);
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'an-app', private: true, type: 'module', dependencies: { ferrule: '*', zod: '*' } }));
  writeFileSync(join(app, '.npmrc'), `registry=${address}\ncache=${join(folder, 'cache')}\naudit=false\nfund=false\n`);
  writeFileSync(
    join(app, 'call.mjs'),
    `${oneCallImports} import { runBridgedSource } from 'ferrule/sandbox'; ${oneCall}
     console.log((await run())[0].outcome.output);
     const script = await runBridgedSource({ source: 'return 6 * 7', allowedTools: [], dispatch: async () => undefined });
     console.log(script.ok ? script.output : script.error.message);`,
  );
  return app;
}
const npm = (app: string, ...args: string[]): void => {
  const ended = command('npm', args, { cwd: app, env: { npm_config_update_notifier: 'false' } });
  expect(ended.status, `${ended.stdout}${ended.stderr}`).toBe(0);
};
const call = (app: string): ReturnType<typeof command> => command(process.execPath, ['call.mjs'], { cwd: app });
const installed = (app: string): string[] => readdirSync(join(app, 'node_modules')).filter((name) => /^ferrule-/.test(name));

describe('the manifests', () => {
  test.each(triples)('%s says for whom it is', (triple) => {
    const [os, cpu, abi] = triple.split('-') as [string, string, string | undefined];
    const manifest = manifestOf(join(root, 'npm', triple));
    const libc = { gnu: ['glibc'], musl: ['musl'] }[abi ?? ''];
    const addon = `ferrule.${triple}.node`;
    expect(manifest).toMatchObject({
      name: `ferrule-${triple}`,
      version: manifestOf(root).version,
      license: 'MIT',
      os: [os],
      cpu: [cpu],
      main: addon,
      files: [addon, os === 'win32' ? 'ferrule-sandbox.exe' : 'ferrule-sandbox'],
      engines: manifestOf(root)['engines'],
      preferUnplugged: true,
    });
    expect(manifest.libc).toEqual(libc);
    // With `exports` the sandbox binary could not be resolved; with scripts something would run at install time.
    for (const absent of ['exports', 'scripts', 'dependencies', 'type']) expect(manifest).not.toHaveProperty(absent);
  });

  test('the staged package names them all, of its own version, and holds no binary', () => {
    const staged = manifestOf(join(folder, 'ferrule'));
    expect(staged.optionalDependencies).toEqual(Object.fromEntries(triples.map((triple) => [`ferrule-${triple}`, staged.version])));
    for (const absent of ['scripts', 'devDependencies', 'napi']) expect(staged).not.toHaveProperty(absent);
    expect(staged['exports']).toEqual(manifestOf(root)['exports']);
    expect(readdirSync(join(folder, 'ferrule', 'native')).sort()).toEqual(['binding.cjs', 'binding.d.ts', 'browser.cjs']);
  });

  test('the checkout itself cannot be published by mistake', () => {
    expect(command('npm', ['run', 'prepublishOnly']).status).not.toBe(0);
  });
});

describe('npm', () => {
  test('installs the package of this platform and no other; calls and scripts work', () => {
    const app = appOf('plain');
    npm(app, 'install');
    expect(installed(app)).toEqual([`ferrule-${ours}`]);
    const sandbox = join(app, 'node_modules', `ferrule-${ours}`, process.platform === 'win32' ? 'ferrule-sandbox.exe' : 'ferrule-sandbox');
    expect(statSync(sandbox).mode & 0o111).toBe(0o111);
    const ended = call(app);
    expect(ended.stdout, ended.stderr).toBe('hello you\n42\n');
    // A lock file made here serves every platform.
    const lock = JSON.parse(readFileSync(join(app, 'package-lock.json'), 'utf8')) as { packages: Record<string, unknown> };
    expect(Object.keys(lock.packages).filter((name) => /\/ferrule-/.test(name))).toHaveLength(triples.length);
  });

  test('each package in its own place, as pnpm lays them out', () => {
    const app = appOf('linked');
    npm(app, 'install', '--install-strategy=linked');
    expect(installed(app)).toEqual([]);
    const ended = call(app);
    expect(ended.stdout, ended.stderr).toBe('hello you\n42\n');
  });

  test('npm ci --omit=optional leaves the binary out, and the error says how to get it', () => {
    const app = appOf('omitted');
    npm(app, 'install', '--package-lock-only');
    npm(app, 'ci', '--omit=optional');
    expect(installed(app)).toEqual([]);
    const ended = call(app);
    expect(ended.stderr).toContain(`ferrule has no native binding for ${ours}`);
    expect(ended.stderr).toContain(`package ferrule-${ours}: Cannot find module 'ferrule-${ours}'`);
    expect(ended.stderr).toContain('npm install --include=optional');
    npm(app, 'install', '--include=optional');
    expect(call(app).stdout).toBe('hello you\n42\n');
  });

  test.skipIf(!linux)('on another platform it installs that one; here the error says so', () => {
    const app = appOf('elsewhere');
    npm(app, 'install', '--os=darwin', '--cpu=arm64');
    expect(installed(app)).toEqual(['ferrule-darwin-arm64']);
    expect(call(app).stderr).toContain('Found: the package for darwin-arm64; node_modules was installed on another platform.');
  });

  test.skipIf(!linux)('of two packages for one system and processor, the C library decides', () => {
    const app = appOf('musl');
    npm(app, 'install', '--os=linux', '--cpu=x64', '--libc=musl');
    expect(installed(app)).toEqual(['ferrule-linux-x64-musl']);
  });

  test('a sandbox binary that is missing is its own error; calls still work', () => {
    const app = appOf('half');
    npm(app, 'install');
    const place = join(app, 'node_modules', `ferrule-${ours}`);
    for (const name of readdirSync(place).filter((one) => one.startsWith('ferrule-sandbox'))) renameSync(join(place, name), join(place, 'away'));
    const ended = call(app);
    expect(ended.stdout).toMatch(/^hello you\n.*sandbox binary/);
    expect(ended.stdout).toContain('FERRULE_SANDBOX');
  });
});

describe('pnpm', () => {
  test('installs the package of this platform; calls and scripts work', () => {
    const app = appOf('pnpm');
    const ended = command(tool('pnpm'), ['install', '--ignore-scripts', `--store-dir=${join(folder, 'store')}`], { cwd: app });
    expect(ended.status, `${ended.stdout}${ended.stderr}`).toBe(0);
    expect(call(app).stdout).toBe('hello you\n42\n');
  });
});

describe('Yarn', () => {
  // Without node_modules: packages stay in their archives, but for those that say they must not.
  test("Plug'n'Play: calls, scripts and worker threads work", () => {
    const app = appOf('yarn');
    writeFileSync(
      join(app, '.yarnrc.yml'),
      JSON.stringify({ nodeLinker: 'pnp', npmRegistryServer: address, unsafeHttpWhitelist: ['127.0.0.1'], enableTelemetry: false, npmMinimalAgeGate: 0, globalFolder: join(folder, 'yarn') }),
    );
    writeFileSync(join(app, 'double.mjs'), 'export default (input) => 2 * input;');
    writeFileSync(
      join(app, 'thread.mjs'),
      `import { createWorkerThreadsSandbox } from 'ferrule/sandbox';
       const module = new URL('./double.mjs', import.meta.url).href;
       for (const policy of [{}, { noFilesystem: true, noNetwork: true }]) {
         const result = await createWorkerThreadsSandbox(policy).run({ kind: 'handler', module, export: 'default' }, { input: 21 });
         console.log(JSON.stringify(result.ok ? result.output : result.error));
       }`,
    );
    const yarn = (...args: string[]): ReturnType<typeof command> => command(tool('yarn'), args, { cwd: app, env: { YARN_IGNORE_PATH: '1' } });
    const ended = yarn('install', '--no-immutable');
    expect(ended.status, `${ended.stdout}${ended.stderr}`).toBe(0);
    expect(existsSync(join(app, 'node_modules'))).toBe(false);
    const called = yarn('node', 'call.mjs');
    expect(called.stdout, called.stderr).toBe('hello you\n42\n');
    const threads = yarn('node', 'thread.mjs');
    expect(threads.stdout, threads.stderr).toBe('42\n42\n');
  });
});
