'use strict';
// Finds and loads the native addon. The order is: the FERRULE_BINDING override, a build in this
// folder, the platform package. Every `require` is a literal string so that file tracers and
// bundlers see it. On failure the error names the platform, every path tried and the last cause.
const { closeSync, existsSync, openSync, readSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

/**
 * The C library of this very process, read from the loader that its executable names: `musl`, `gnu`, or
 * undefined when it names neither (linked statically, no ELF file, not readable).
 */
function libcOfExecutable() {
  let fd;
  try {
    fd = openSync(process.execPath, 'r');
    const head = Buffer.alloc(4096);
    const text = head.toString('latin1', 0, readSync(fd, head, 0, head.length, 0));
    return /\/ld-(musl|linux)-/.exec(text)?.[1].replace('linux', 'gnu');
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** What Node's report says: always right, but a report takes longer than the rest of loading. */
function libcOfReport() {
  const { report } = process;
  if (!report) return 'gnu';
  const previous = report.excludeNetwork;
  report.excludeNetwork = true;
  const { header } = report.getReport();
  report.excludeNetwork = previous;
  return header.glibcVersionRuntime ? 'gnu' : 'musl';
}

let known;
/** `linux-x64-gnu`, `darwin-arm64`, `win32-x64-msvc`, … */
function triple() {
  known ??= { linux: () => `-${libcOfExecutable() ?? libcOfReport()}`, win32: () => '-msvc' }[process.platform]?.() ?? '';
  return `${process.platform}-${process.arch}${known}`;
}

const local = {
  'linux-x64-gnu': () => require('./ferrule.linux-x64-gnu.node'),
  'linux-arm64-gnu': () => require('./ferrule.linux-arm64-gnu.node'),
  'linux-x64-musl': () => require('./ferrule.linux-x64-musl.node'),
  'linux-arm64-musl': () => require('./ferrule.linux-arm64-musl.node'),
  'darwin-x64': () => require('./ferrule.darwin-x64.node'),
  'darwin-arm64': () => require('./ferrule.darwin-arm64.node'),
  'win32-x64-msvc': () => require('./ferrule.win32-x64-msvc.node'),
};
const packaged = {
  'linux-x64-gnu': () => require('ferrule-linux-x64-gnu'),
  'linux-arm64-gnu': () => require('ferrule-linux-arm64-gnu'),
  'linux-x64-musl': () => require('ferrule-linux-x64-musl'),
  'linux-arm64-musl': () => require('ferrule-linux-arm64-musl'),
  'darwin-x64': () => require('ferrule-darwin-x64'),
  'darwin-arm64': () => require('ferrule-darwin-arm64'),
  'win32-x64-msvc': () => require('ferrule-win32-x64-msvc'),
};
const packagedSandbox = {
  'linux-x64-gnu': () => require.resolve('ferrule-linux-x64-gnu/ferrule-sandbox'),
  'linux-arm64-gnu': () => require.resolve('ferrule-linux-arm64-gnu/ferrule-sandbox'),
  'linux-x64-musl': () => require.resolve('ferrule-linux-x64-musl/ferrule-sandbox'),
  'linux-arm64-musl': () => require.resolve('ferrule-linux-arm64-musl/ferrule-sandbox'),
  'darwin-x64': () => require.resolve('ferrule-darwin-x64/ferrule-sandbox'),
  'darwin-arm64': () => require.resolve('ferrule-darwin-arm64/ferrule-sandbox'),
  'win32-x64-msvc': () => require.resolve('ferrule-win32-x64-msvc/ferrule-sandbox.exe'),
};

/** Platforms whose packages lie beside ours: what `node_modules` holds when it comes from another machine. */
function othersInstalled(name) {
  try {
    const beside = readdirSync(join(__dirname, '..', '..'));
    return Object.keys(packaged).filter((other) => other !== name && beside.includes(`ferrule-${other}`));
  } catch {
    return [];
  }
}

function load() {
  const name = triple();
  const tried = [];
  let cause;
  const attempt = (label, run) => {
    if (!run) return undefined;
    try {
      return run();
    } catch (error) {
      // A file that is simply absent says less than one that is there and cannot be loaded.
      if (!cause || error.code !== 'MODULE_NOT_FOUND') cause = error;
      tried.push(`${label}: ${String(error.message).split('\n')[0]}`);
      return undefined;
    }
  };
  const override = process.env.FERRULE_BINDING;
  if (override) {
    const found = attempt(`FERRULE_BINDING=${override}`, () => require(override));
    if (found) return found;
  } else {
    const found =
      attempt(`local build ferrule.${name}.node`, local[name]) ??
      attempt(`package ferrule-${name}`, packaged[name]);
    if (found) return found;
  }
  const others = othersInstalled(name);
  const error = new Error(
    `ferrule has no native binding for ${name} (Node ${process.version}).\n` +
      `Tried:\n${tried.map((line) => `  - ${line}`).join('\n') || '  - nothing: this platform is not supported'}\n` +
      (others.length > 0 ? `Found: the package for ${others.join(', ')}; node_modules was installed on another platform.\n` : '') +
      (cause?.code === 'ERR_DLOPEN_DISABLED'
        ? "Fix: Node's permission model keeps addons out: add --allow-addons."
        : `Fix: reinstall with optional dependencies (npm install --include=optional) on this platform, ` +
          `build it from the repository (npm run build), or set FERRULE_BINDING to the .node file.`),
    { cause },
  );
  error.code = 'FERRULE_BINDING_NOT_FOUND';
  throw error;
}

/** The path of the sandbox binary, or undefined when none is installed. */
function sandboxBinary() {
  const override = process.env.FERRULE_SANDBOX;
  if (override) return override;
  const file = process.platform === 'win32' ? 'ferrule-sandbox.exe' : 'ferrule-sandbox';
  const here = join(__dirname, file);
  if (existsSync(here)) return here;
  try {
    return packagedSandbox[triple()]?.();
  } catch {
    return undefined;
  }
}

module.exports = { load, sandboxBinary, triple };
