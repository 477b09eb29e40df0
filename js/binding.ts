/**
 * The one place that loads the addon: lazily, at first use, so that types, builder and other
 * pure-TypeScript parts import without a binary.
 *
 * @internal
 */
import { createRequire } from 'node:module';
import type * as Native from '../native/binding.js';

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

function getLoader(): Loader {
  loader ??= createRequire(import.meta.url)('../native/binding.cjs') as Loader;
  return loader;
}

/** The addon. Throws an error that names platform, tried paths and the fix when there is none. @internal */
export function native(): NativeBinding {
  binding ??= getLoader().load();
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
const late = new Map<string, number>();
let hasLate = false;

/** Counts one under a key of {@link countFirst} without crossing; false when the key is none. @internal */
export function countAgain(key: string): boolean {
  const by = late.get(key);
  if (by === undefined) return false;
  late.set(key, by + 1);
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
  late.set(key, 0);
}

/** Counts one under each key, in their order. @internal */
export function countEach(keys: ReadonlyArray<string>): void {
  const to = bareRealm();
  // Refused when a key holds a line feed.
  if (!to.incrementEach(keys.join('\n'), keys.length)) for (const key of keys) to.increment(key, 1);
}

/** To be called when the realm forgets its keys. @internal */
export function forgetCounts(): void {
  late.clear();
  hasLate = false;
}

function handOver(to: Native.Realm): void {
  hasLate = false;
  for (const [key, by] of late) {
    if (by === 0) continue;
    late.set(key, 0);
    to.increment(key, by);
  }
}

/** Where the sandbox binary is, or undefined. @internal */
export function sandboxBinary(): string | undefined {
  return getLoader().sandboxBinary();
}
