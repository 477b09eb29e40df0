// What the project's scripts share: running commands, saying what happens, knowing what is stale.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync, copyFileSync, chmodSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Prints a step, so that a long wait is never a silent one. */
export function say(text) {
  process.stdout.write(`\x1b[1m==>\x1b[0m ${text}\n`);
}

/** Runs a command in the repository and ends the script when it fails. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (result.error) {
    console.error(`cannot run ${command}: ${result.error.message}`);
    process.exit(1);
  }
  if (result.status !== 0) {
    console.error(`${command} ${args.join(' ')} failed (${result.status ?? result.signal})`);
    process.exit(result.status ?? 1);
  }
}

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
export function unlessFresh(name, inputs, outputs, salt, build) {
  if (isFresh(name, inputs, outputs, salt)) return false;
  build();
  mkdirSync(dirname(stampOf(name)), { recursive: true });
  writeFileSync(stampOf(name), digest(inputs, salt));
  return true;
}

export const platformTriple = () => {
  const musl = process.platform === 'linux' && !process.report?.getReport().header.glibcVersionRuntime;
  const base = `${process.platform}-${process.arch}`;
  if (process.platform === 'linux') return `${base}-${musl ? 'musl' : 'gnu'}`;
  if (process.platform === 'win32') return `${base}-msvc`;
  return base;
};

/** Installs the npm packages of the lock file when they are missing or the lock file changed. */
export function ensurePackages() {
  unlessFresh('npm', ['package-lock.json'], ['node_modules/typescript/package.json'], '', () => {
    say('installing npm packages (about half a minute)');
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  });
}

/** Where cargo builds. */
export const targetFolder = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
/** What the binaries are made of. */
export const rustInputs = ['src', 'Cargo.toml', 'Cargo.lock', 'build.rs'];

/**
 * Builds the addon and the sandbox binary when their sources changed, and puts them into `native/`.
 * A release build of the same sources satisfies a request for a dev build.
 */
export function ensureNative({ release = false } = {}) {
  const profile = release ? 'release' : 'dev';
  const flags = release ? ['--release'] : [];
  const stamped = (name, outputs, build) => {
    const freshRelease = !release && isFresh(`${name}-release`, rustInputs, outputs);
    if (!freshRelease && unlessFresh(`${name}-${profile}`, rustInputs, outputs, '', build)) {
      rmSync(join(root, 'native', `.stamp-${name}-${release ? 'dev' : 'release'}`), { force: true });
    }
  };
  stamped('addon', [`native/ferrule.${platformTriple()}.node`, 'native/binding.d.ts'], () => {
    say(`building the addon (${profile}; minutes the first time, seconds after)`);
    run('node', ['scripts/addon.mjs', ...flags]);
  });
  const exe = process.platform === 'win32' ? 'ferrule-sandbox.exe' : 'ferrule-sandbox';
  stamped('sandbox', [`native/${exe}`], () => {
    say(`building the sandbox binary with its engine (${profile}; minutes the first time)`);
    run('cargo', ['build', '--bin', 'ferrule-sandbox', '--no-default-features', '--features', 'engine', ...flags]);
    const to = join(root, 'native', exe);
    copyFileSync(join(targetFolder, release ? 'release' : 'debug', exe), `${to}.new`);
    chmodSync(`${to}.new`, 0o755);
    rmSync(to, { force: true });
    renameSync(`${to}.new`, to);
  });
}

/** Compiles the TypeScript face into `dist/` when it changed. */
export function ensureDist() {
  unlessFresh('dist', ['js', 'tsconfig.json', 'tsconfig.build.json', 'native/binding.d.ts'], ['dist/index.js'], '', () => {
    say('compiling the TypeScript face');
    rmSync(join(root, 'dist'), { recursive: true, force: true });
    run('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json']);
  });
}
