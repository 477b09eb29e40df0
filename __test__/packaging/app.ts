// An app like our users': an empty folder with the packed package installed, nothing of the checkout.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';

// Compilers, npm and other Nodes are started; on a busy machine each may take its time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 300_000 });

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const onWindows = process.platform === 'win32';

export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end; one that hangs is killed and shows as a signal. */
export function command(
  program: string,
  args: readonly string[],
  { cwd = root, env = {}, timeout = 120_000 }: { cwd?: string; env?: Record<string, string>; timeout?: number } = {},
): Ended {
  // What vitest sets must not reach the app.
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([key]) => !/^(VITEST|NODE_OPTIONS|NODE_ENV|FERRULE_|npm_)/.test(key)),
  );
  const ended = spawnSync(program, args, {
    cwd,
    env: { ...clean, ...env },
    encoding: 'utf8',
    timeout,
    killSignal: 'SIGKILL',
    shell: onWindows,
  });
  return { status: ended.status, signal: ended.signal, stdout: ended.stdout ?? '', stderr: ended.stderr ?? String(ended.error) };
}

function mustRun(program: string, args: readonly string[], cwd: string): string {
  const ended = command(program, args, { cwd });
  if (ended.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${ended.stderr}\n${ended.stdout}`);
  return ended.stdout;
}

/** Packs a folder into `to` and returns the tarball's path. Scripts are off: `prepack` is a release build. */
export function pack(folder: string, to: string): string {
  const said = mustRun('npm', ['pack', folder, '--ignore-scripts', '--json', '--pack-destination', to], to);
  const [{ filename }] = JSON.parse(said) as [{ filename: string }];
  return join(to, filename.replace(/^@/, '').replace('/', '-'));
}

/** The tarball of this repository, packed anew only when something in it changed: it holds large binaries. */
function packedRepository(): string {
  const parts = ['package.json', 'README.md', 'CHANGELOG.md', 'COMPATIBILITY.md', 'SECURITY.md', 'LICENSE', 'index.js', 'index.d.ts'];
  const files = [...parts.map((part) => join(root, part)).filter(existsSync), ...filesOf(join(root, 'dist')), ...filesOf(join(root, 'native'))];
  const hash = createHash('sha256');
  for (const file of files.filter((one) => !basename(one).startsWith('.'))) {
    const { mtimeMs, size } = statSync(file);
    hash.update(`${file}\0${mtimeMs}\0${size}\0`);
  }
  const folder = join(root, 'target', 'packed');
  const kept = join(folder, `ferrule-${hash.digest('hex').slice(0, 16)}.tgz`);
  if (!existsSync(kept)) {
    mkdirSync(folder, { recursive: true });
    const scratch = mkdtempSync(join(folder, 'new-'));
    const made = pack(root, scratch);
    for (const old of readdirSync(folder).filter((name) => name.endsWith('.tgz'))) rmSync(join(folder, old), { force: true });
    renameSync(made, kept);
    rmSync(scratch, { recursive: true });
  }
  return kept;
}

export interface App {
  readonly folder: string;
  readonly installed: string;
  readonly tarball: string;
  /** Writes a file into the app and returns its path. */
  write(name: string, text: string): string;
  remove(): void;
}

/**
 * Packs this repository and installs it, offline, beside its peer.
 *
 * @param name part of the folder's name.
 * @param as the name it is installed under; a package may have any.
 * @param folders more packages, from folders: name to path.
 */
export function createApp(name: string, as = 'ferrule', folders: Readonly<Record<string, string>> = {}): App {
  for (const built of ['dist/index.js', 'native/binding.cjs']) {
    if (!existsSync(join(root, built))) throw new Error(`${built} is missing: run \`npm run setup\` first`);
  }
  const folder = mkdtempSync(join(tmpdir(), `ferrule-app-${name}-`));
  const tarball = packedRepository();
  const local = (path: string): string => `file:${pack(join(root, 'node_modules', path), folder)}`;
  const more = Object.entries(folders).map(([of, path]) => [of, `file:${pack(path, folder)}`] as const);
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({
      name: 'an-app',
      private: true,
      type: 'module',
      dependencies: {
        [as]: `file:${tarball}`,
        zod: local('zod'),
        '@standard-schema/spec': local('@standard-schema/spec'),
        ...Object.fromEntries(more),
      },
    }),
  );
  mustRun('npm', ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error'], folder);
  return {
    folder,
    tarball,
    installed: join(folder, 'node_modules', as),
    write(file, text) {
      writeFileSync(join(folder, file), text);
      return join(folder, file);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A tool of this repository's node_modules, by its path. */
export const tool = (name: string): string => join(root, 'node_modules', '.bin', name);

/** The public subpaths as package.json names them, without `./package.json`. */
export const subpaths: readonly string[] = Object.keys(
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: Record<string, unknown> }).exports,
).filter((subpath) => subpath !== './package.json');

/** `./builder` -> `ferrule/builder`. */
export const specifier = (subpath: string): string => `ferrule${subpath.slice(1)}`;

/** Every file below a folder. */
export const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** One call of one tool, from registration to its outcome on stdout. */
export const oneCall = `
const registry = createToolRegistry();
registry.register(tool({
  name: 'greet', description: 'Greets.', inputSchema: z.object({ name: z.string() }),
  sideEffectClass: 'pure', execute: async ({ name }) => 'hello ' + name,
}));
const executor = createToolExecutor({ registry });
const runContext = {
  runId: 'r', sessionId: 's', agentId: 'a', deps: {}, tracer: NOOP_TRACER, signal: new AbortController().signal,
  usage: { total: zeroUsage(), byModel: new Map(), add() {}, reset() {}, snapshot() { return { total: zeroUsage(), byModel: [] }; } },
  stepNumber: 1, messages: [], state: {},
};
const run = () => executor.executeBatch({ calls: [{ toolCallId: 'c', toolName: 'greet', args: { name: 'you' } }], runContext, stepNumber: 1 });
`;

/** What a file needs at its head to use {@link oneCall}. */
export const oneCallImports = `
import { createToolExecutor, createToolRegistry, tool } from 'ferrule';
import { NOOP_TRACER, zeroUsage } from 'ferrule/core';
import { z } from 'zod';
`;
