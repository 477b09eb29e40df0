/**
 * The one place that loads the addon: lazily, at first use, so that types, builder and other
 * pure-TypeScript parts import without a binary.
 *
 * @internal
 */
import { isAbsolute } from 'node:path';
import type * as Native from '../native/binding.js';
import { addonBeside } from './addon.js';
import { builtins } from './builtins.js';
import { once } from './once.js';
import { VERSION } from './version.js';

/** The addon's exports. @internal */
export type NativeBinding = typeof Native;

interface Loader {
  load(): NativeBinding;
  sandboxBinary(): string | undefined;
  triple(): string;
}

let loader: Loader | undefined;
let binding: NativeBinding | undefined;
let realm: Native.Realm | undefined;

/** Where this code lies. A bundle that is CommonJS has no `import.meta`; Node makes one when it is asked. */
const here = once(() => import.meta.url ?? (typeof __filename === 'string' ? __filename : undefined));

/** Whether `createRequire` takes it. */
const isPlace = (from: string): boolean => from.startsWith('file:') || isAbsolute(from);

/** The loader of the installed package, seen from a file or folder, or why there is none. */
function installedLoader(from: string): Loader | string {
  const require = builtins.module().createRequire(from);
  let manifest: string;
  try {
    manifest = require.resolve('ferrule/package.json');
  } catch {
    return 'no package ferrule to be found from there';
  }
  const { version } = require(manifest) as { version: string };
  if (version !== VERSION) return `${manifest} is version ${version}, the bundle holds ${VERSION}`;
  return require(manifest.replace(/package\.json$/, 'native/binding.cjs')) as Loader;
}

/** For a bundle that knows where the files are; what is not named is not there. */
function namedLoader(path: string): Loader {
  const require = builtins.module().createRequire(`${process.cwd()}/`);
  return {
    load: () => require(path) as NativeBinding,
    sandboxBinary: () => process.env['FERRULE_SANDBOX'],
    triple: () => `${process.platform}-${process.arch}`,
  };
}

/**
 * The loader when it is not beside this code: somebody bundled the package. It is looked for where such a
 * bundle's app would have it installed, so that it works as long as the package is there too. Never in the
 * current directory, which may be a stranger's.
 */
function loaderOfBundle(cause: unknown): Loader {
  const named = process.env['FERRULE_BINDING'];
  if (named !== undefined && named !== '') return namedLoader(named);
  const tried = [`${here() ?? 'this bundle'}: no ../native/binding.cjs beside it`];
  for (const from of new Set([here(), process.argv[1]])) {
    // A bundler may have put something else in place of what tells where a file lies.
    const found = from !== undefined && isPlace(from) ? installedLoader(from) : undefined;
    if (typeof found === 'object') return found;
    if (found !== undefined) tried.push(`${from}: ${found}`);
  }
  const error = new Error(
    `ferrule was bundled, and its native parts were left behind.\nTried:\n${tried.map((line) => `  - ${line}`).join('\n')}\n` +
      'Fix: leave the package external to the bundle (esbuild: --external:ferrule --external:ferrule/*; other bundlers: ' +
      'see "Bundlers" in its README) and install it where the bundle runs, or set FERRULE_BINDING to the .node file and ' +
      'FERRULE_SANDBOX to the sandbox binary.',
    { cause },
  );
  throw Object.assign(error, { code: 'FERRULE_BINDING_NOT_FOUND' });
}

function getLoader(): Loader {
  if (loader !== undefined) return loader;
  let beside: Loader | undefined;
  let cause: unknown;
  const from = here();
  if (from !== undefined) {
    try {
      beside = builtins.module().createRequire(from)('../native/binding.cjs') as Loader;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
      cause = error;
    }
  }
  loader = beside ?? loaderOfBundle(cause);
  return loader;
}

/** The addon. Throws an error that names platform, tried paths and the fix when there is none. @internal */
export function native(): NativeBinding {
  binding ??= (addonBeside(here()) as NativeBinding | undefined) ?? getLoader().load();
  return binding;
}

/**
 * What one load of this package keeps for itself: counters, histograms. Two realms (worker threads,
 * two copies of the package) never see each other's (spec 04 section 9.10).
 *
 * @internal
 */
export function nativeRealm(): Native.Realm {
  const current = bareRealm();
  countWaiting();
  if (hasLate) handOver(current);
  return current;
}

function bareRealm(): Native.Realm {
  realm ??= new (native().Realm)();
  return realm;
}

/**
 * Increments that the realm has not been told yet, by key. Only of keys that it knows: the order of its
 * keys is that of their first writes, and additions to one key may come in any order and at once.
 */
const late = new Map<string, { by: number }>();
let hasLate = false;

/** Counts one under a key of {@link countFirst} without crossing; false when the key is none. @internal */
export function countAgain(key: string): boolean {
  const count = late.get(key);
  if (count === undefined) return false;
  count.by += 1;
  hasLate = true;
  return true;
}

/**
 * Counts one, and takes in further ones under the key here, until somebody uses the realm. For keys of
 * which there are few and that are counted often: they are kept.
 *
 * @internal
 */
export function countFirst(key: string): void {
  nativeRealm().increment(key, 1);
  late.set(key, { by: 0 });
}

/** Keys to count one under, in their order: one way across for many. They are never kept beyond the running turn. */
const waiting: string[] = [];
const MOST_WAITING = 512;

/** Counts one under each key, in their order. @internal */
export function countEach(keys: ReadonlyArray<string>): void {
  // Without an addon this throws here, where somebody can catch it, and not at the end of the turn.
  bareRealm();
  if (waiting.length === 0) queueMicrotask(countWaiting);
  waiting.push(...keys);
  if (waiting.length >= MOST_WAITING) countWaiting();
}

/** Has the realm count what waits, for whoever counts without asking for the realm. @internal */
export function countWaiting(): void {
  if (waiting.length === 0) return;
  const to = bareRealm();
  // Refused when a key holds a line feed.
  if (!to.incrementEach(waiting.join('\n'), waiting.length)) for (const key of waiting) to.increment(key, 1);
  waiting.length = 0;
}

/** To be called when the realm forgets its keys. @internal */
export function forgetCounts(): void {
  late.clear();
  hasLate = false;
}

function handOver(to: Native.Realm): void {
  hasLate = false;
  for (const [key, count] of late) {
    const { by } = count;
    if (by === 0) continue;
    count.by = 0;
    to.increment(key, by);
  }
}

/** Where the sandbox binary is, or undefined. @internal */
export function sandboxBinary(): string | undefined {
  return getLoader().sandboxBinary();
}
