import { builtins } from '../builtins.js';
import { canonicalJson } from '../value/canonical.js';
import type { Projector } from './project.js';
import type { Store } from './store.js';
import type { RegistryDrift, RegistryEntry } from './types.js';

/** SHA-256 over the canonical JSON of what a model is shown of a tool. @internal */
export function fingerprintOf(entry: RegistryEntry, projector: Projector): string {
  const { name, description, examples } = entry;
  const shown = canonicalJson({ name, description, examples, ...projector.project(entry) });
  return builtins.crypto().createHash('sha256')
    .update(shown ?? '')
    .digest('hex');
}

/** Compares a store with recorded fingerprints. @internal */
export function driftOf(
  store: Store,
  previous: Readonly<Record<string, string | undefined>>,
  fingerprint: (name: string) => string | undefined,
): RegistryDrift {
  const added: string[] = [];
  const changed: string[] = [];
  for (const { name } of store.buckets()) {
    // Own properties only: a tool may be called `constructor`.
    if (!Object.hasOwn(previous, name)) added.push(name);
    else if (previous[name] !== fingerprint(name)) changed.push(name);
  }
  const removed = Object.keys(previous).filter((name) => store.bucket(name) === undefined);
  return Object.freeze({
    added: Object.freeze(added),
    removed: Object.freeze(removed),
    changed: Object.freeze(changed),
  });
}
