// What the project's scripts share: running commands, saying what happens, knowing what is stale.
// Node builtins only: these run before any package is installed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const onWindows = process.platform === 'win32';
const colours = process.stdout.isTTY && !process.env.NO_COLOR;

/** Bold, on a terminal that shows it. */
export const bold = (text) => (colours ? `\x1b[1m${text}\x1b[0m` : text);

/** Prints a step, so that a long wait is never a silent one. */
export function say(text) {
  process.stdout.write(`${bold('==>')} ${text}\n`);
}

const running = new Set();

/** Ends a command with everything it started: each runs in a process group of its own. */
function stop(child, signal) {
  try {
    if (onWindows) child.kill();
    else process.kill(-child.pid, signal);
  } catch {
    // It has ended already.
  }
}

for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]]) {
  process.on(signal, () => {
    for (const child of running) stop(child, 'SIGTERM');
    process.exit(code);
  });
}

/**
 * Runs a command in the repository and resolves to how it ended: `{ code, text }`. Its output is
 * shown as it comes; with `collect` it is also kept in `text`.
 */
export function attempt(command, args, { collect = false, env = process.env, cwd = root } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: ['ignore', collect ? 'pipe' : 'inherit', collect ? 'pipe' : 'inherit'],
      detached: !onWindows,
      // npm and the tools in node_modules/.bin are batch files there.
      shell: onWindows,
    });
    running.add(child);
    const parts = [];
    const keep = (from, to) =>
      from?.on('data', (data) => {
        parts.push(data);
        to.write(data);
      });
    keep(child.stdout, process.stdout);
    keep(child.stderr, process.stderr);
    child.on('error', (error) => {
      running.delete(child);
      console.error(`cannot run ${command}: ${error.message}`);
      resolve({ code: 127, text: error.message });
    });
    child.on('close', (code, signal) => {
      running.delete(child);
      resolve({ code: code ?? (signal ? 1 : 0), text: Buffer.concat(parts).toString('utf8') });
    });
  });
}

/** Runs a command and ends the script when it fails. */
export async function run(command, args, options) {
  const { code } = await attempt(command, args, options);
  if (code !== 0) {
    console.error(`${command} ${args.join(' ')} failed (exit ${code})`);
    process.exit(code);
  }
}

/** A tool of node_modules, started by its own path. */
export const bin = (name) => join(root, 'node_modules', '.bin', name);

function* files(path) {
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) {
    yield path;
    return;
  }
  for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    yield* files(join(path, entry.name));
  }
}

/** A digest of the contents of files and folders. */
export function digest(paths, salt = '') {
  const hash = createHash('sha256').update(salt);
  for (const path of paths) {
    for (const file of files(join(root, path))) {
      hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
    }
  }
  return hash.digest('hex');
}

const stampOf = (name) => join(root, 'native', `.stamp-${name}`);

/** Whether the inputs are those of the last successful build and the outputs are there. */
export function isFresh(name, inputs, outputs, salt = '') {
  return (
    existsSync(stampOf(name)) &&
    outputs.every((output) => existsSync(join(root, output))) &&
    readFileSync(stampOf(name), 'utf8') === digest(inputs, salt)
  );
}

/** Runs `build` unless it is fresh; tells whether it ran. */
export async function unlessFresh(name, inputs, outputs, salt, build) {
  if (isFresh(name, inputs, outputs, salt)) return false;
  // Taken before the build: what is edited meanwhile stays stale.
  const made = digest(inputs, salt);
  await build();
  mkdirSync(dirname(stampOf(name)), { recursive: true });
  writeFileSync(stampOf(name), made);
  return true;
}

/** `linux-x64-gnu`, `darwin-arm64`, `win32-x64-msvc`, … as the platform packages are named. */
export const platformTriple = () => {
  const musl = process.platform === 'linux' && !process.report?.getReport().header.glibcVersionRuntime;
  const base = `${process.platform}-${process.arch}`;
  if (process.platform === 'linux') return `${base}-${musl ? 'musl' : 'gnu'}`;
  if (onWindows) return `${base}-msvc`;
  return base;
};

/** Installs the npm packages of the lock file when they are missing or the lock file changed. */
export async function ensurePackages() {
  const folder = join(root, 'node_modules');
  if (existsSync(folder) && lstatSync(folder).isSymbolicLink()) {
    // `npm ci` would empty the folder behind the link, which another checkout uses.
    say('node_modules is a link: left as it is');
    return;
  }
  await unlessFresh('npm', ['package-lock.json'], ['node_modules/typescript/package.json'], '', async () => {
    say('installing npm packages (about half a minute)');
    await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  });
}

/** Where cargo builds. */
export const targetFolder = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
/** What the binaries are made of. */
export const rustInputs = ['src', 'Cargo.toml', 'Cargo.lock', 'build.rs'];
/** The name of the sandbox binary on this platform. */
export const sandboxName = onWindows ? 'ferrule-sandbox.exe' : 'ferrule-sandbox';

/**
 * The features of the rooms without the door: what their tests and the dev build of the sandbox
 * binary share, so that the engine and everything below it is compiled once.
 */
export const roomFeatures = ['--no-default-features', '--features', 'docker,engine'];

/** Puts a built file into `native/`, renamed into place: a running process may have the old one mapped. */
export function install(from, name, mode = 0o755) {
  const to = join(root, 'native', name);
  copyFileSync(from, `${to}.new`);
  chmodSync(`${to}.new`, mode);
  rmSync(to, { force: true });
  renameSync(`${to}.new`, to);
}

/**
 * Builds the addon and the sandbox binary when their sources changed, and puts them into `native/`.
 * A release build of the same sources satisfies a request for a dev build.
 */
export async function ensureNative({ release = false } = {}) {
  const profile = release ? 'release' : 'dev';
  const flags = release ? ['--release'] : [];
  const stamped = async (name, outputs, build) => {
    const freshRelease = !release && isFresh(`${name}-release`, rustInputs, outputs);
    if (!freshRelease && (await unlessFresh(`${name}-${profile}`, rustInputs, outputs, '', build))) {
      rmSync(stampOf(`${name}-${release ? 'dev' : 'release'}`), { force: true });
    }
  };
  await stamped('addon', [`native/ferrule.${platformTriple()}.node`, 'native/binding.d.ts'], async () => {
    say(`building the addon (${profile}; minutes the first time, seconds after)`);
    await run(process.execPath, ['scripts/addon.mjs', ...flags]);
  });
  await stamped('sandbox', [`native/${sandboxName}`], async () => {
    say(`building the sandbox binary with its engine (${profile}; minutes the first time)`);
    // What is published holds the engine and nothing else.
    const features = release ? ['--no-default-features', '--features', 'engine'] : roomFeatures;
    await run('cargo', ['build', '--bin', 'ferrule-sandbox', ...features, ...flags]);
    install(join(targetFolder, release ? 'release' : 'debug', sandboxName), sandboxName);
  });
}

/** Compiles the TypeScript face into `dist/` when it changed: declarations file by file, code as scripts/dist.mjs says. */
export async function ensureDist() {
  const inputs = ['js', 'tsconfig.json', 'tsconfig.build.json', 'native/binding.d.ts', 'package.json', 'package-lock.json', 'scripts/lib.mjs', 'scripts/dist.mjs'];
  await unlessFresh('dist', inputs, ['dist/index.js', 'dist/index.d.ts'], '', async () => {
    say('compiling the TypeScript face');
    rmSync(join(root, 'dist'), { recursive: true, force: true });
    await run(bin('tsc'), ['-p', 'tsconfig.build.json', '--emitDeclarationOnly']);
    await run(process.execPath, ['scripts/dist.mjs']);
  });
}

/** Says what is missing on this machine and ends the script, before anything fails in the middle. */
export async function ensureTools() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (!(major === 20 && minor >= 19) && !(major === 22 && minor >= 12) && major < 23) {
    console.error(`Node ${process.versions.node} is too old: ferrule needs ^20.19.0 or >=22.12.0.`);
    process.exit(1);
  }
  const { code } = await attempt('cargo', ['--version']);
  if (code !== 0) {
    console.error('Rust is missing: install it with rustup (https://rustup.rs), then run this command again.');
    process.exit(1);
  }
}

/** Everything a checkout needs before it can run; only what is stale. */
export async function setUp(options) {
  await ensureTools();
  await ensurePackages();
  await ensureNative(options);
  await ensureDist();
}
