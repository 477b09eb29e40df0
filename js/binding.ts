/**
 * The one place that loads the addon: lazily, at first use, so that types, builder and other
 * pure-TypeScript parts import without a binary.
 *
 * @internal
 */
import type * as Native from '../native/binding.js';
import { builtins } from './builtins.js';

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
  loader ??= builtins.module().createRequire(import.meta.url)('../native/binding.cjs') as Loader;
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
  realm ??= new (native().Realm)();
  return realm;
}

/** Where the sandbox binary is, or undefined. @internal */
export function sandboxBinary(): string | undefined {
  return getLoader().sandboxBinary();
}
