import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtins } from './builtins.js';

/** The platforms with one C library, or none to choose from; on Linux it is glibc unless musl shows. */
const NAMES: Readonly<Record<string, string>> = {
  'darwin-arm64': 'darwin-arm64',
  'darwin-x64': 'darwin-x64',
  'linux-arm64': 'linux-arm64-gnu',
  'linux-x64': 'linux-x64-gnu',
  'win32-x64': 'win32-x64-msvc',
};
const MUSL: Readonly<Record<string, string>> = {
  'linux-arm64': '/lib/ld-musl-aarch64.so.1',
  'linux-x64': '/lib/ld-musl-x86_64.so.1',
};

/** Where the addon may be: what FERRULE_BINDING names, a build of ours, the package beside this one. */
function candidates(here: string): readonly string[] {
  const named = process.env['FERRULE_BINDING'];
  if (named) return isAbsolute(named) && named.endsWith('.node') ? [named] : [];
  const platform = `${process.platform}-${process.arch}`;
  const name = NAMES[platform];
  const at = (path: string): string => fileURLToPath(new URL(path, here));
  const exists = builtins.fs().existsSync;
  // Without the loader beside it this code was bundled, and whatever lies around may be of another version.
  if (name === undefined || !exists(at('../native/binding.cjs')) || exists(MUSL[platform] ?? '')) return [];
  const file = `ferrule.${name}.node`;
  return [at(`../native/${file}`), at(`../../ferrule-${name}/${file}`)].filter((path) => exists(path));
}

/**
 * The addon, when it is where installers and our own build put it. The first `require` of a process takes
 * longer than loading the addon does, and this needs none. Undefined when anything is out of the ordinary:
 * `native/binding.cjs` finds it then, or says what is wrong.
 *
 * @internal
 */
export function addonBeside(here: string | undefined): unknown {
  if (!here?.startsWith('file:')) return undefined;
  try {
    const [path] = candidates(here);
    if (path === undefined) return undefined;
    const module = { exports: {} };
    process.dlopen(module, path);
    return module.exports;
  } catch {
    return undefined;
  }
}
