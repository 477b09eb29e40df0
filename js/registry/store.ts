import { copyTool } from '../builder/own.js';
import type { RegistryEntry } from './types.js';

/** The entries of one name, one a source. @internal */
export interface Bucket {
  readonly name: string;
  /** Position of the name among all names ever added; sorts like the map. */
  readonly order: number;
  /** In registration order. Never changed in place. Empty once the name is gone. */
  entries: ReadonlyArray<RegistryEntry>;
}

const NONE: ReadonlyArray<RegistryEntry> = Object.freeze([]);

/**
 * The bucket of an entry that got another name. The copy under that name is made when somebody looks
 * at it: of thousands of tools that collide, few are ever asked for. Entries are frozen, so it is the
 * same copy whenever it is made.
 */
class RenamedBucket implements Bucket {
  readonly name: string;
  readonly order: number;
  #from: RegistryEntry | undefined;
  #entries = NONE;

  constructor(name: string, order: number, from: RegistryEntry) {
    this.name = name;
    this.order = order;
    this.#from = from;
  }

  get entries(): ReadonlyArray<RegistryEntry> {
    if (this.#from !== undefined) {
      const copy: { -readonly [K in keyof RegistryEntry]: RegistryEntry[K] } = copyTool(this.#from);
      copy.name = this.name;
      this.entries = [Object.freeze(copy)];
    }
    return this.#entries;
  }

  set entries(entries: ReadonlyArray<RegistryEntry>) {
    this.#from = undefined;
    this.#entries = entries;
  }
}

/**
 * Names and their entries. Every change goes through {@link Store.set}, so that the numbers and
 * whoever watches (the search index) cannot fall behind.
 *
 * @internal
 */
export class Store {
  readonly #buckets = new Map<string, Bucket>();
  #nextOrder = 0;
  #size = 0;
  #deferred = 0;
  /** Called with each bucket that changed. */
  onChange: ((bucket: Bucket) => void) | undefined;

  get size(): number {
    return this.#size;
  }

  get deferredCount(): number {
    return this.#deferred;
  }

  /** The names in order of first appearance. */
  buckets(): IterableIterator<Bucket> {
    return this.#buckets.values();
  }

  bucket(name: string): Bucket | undefined {
    return this.#buckets.get(name);
  }

  /** The entries of a name, none when it is unknown. */
  entries(name: string): ReadonlyArray<RegistryEntry> {
    return this.#buckets.get(name)?.entries ?? NONE;
  }

  /** Adds a name that is not there, at the end. */
  add(name: string, entry: RegistryEntry): void {
    this.#append({ name, order: this.#nextOrder++, entries: [entry] }, entry);
  }

  /** Adds a name that is not there, at the end, with a copy of an entry that is called so. */
  addRenamed(name: string, entry: RegistryEntry): void {
    this.#append(new RenamedBucket(name, this.#nextOrder++, entry), entry);
  }

  #append(bucket: Bucket, entry: RegistryEntry): void {
    this.#buckets.set(bucket.name, bucket);
    this.#size += 1;
    if (entry.__effectiveDeferLoading) this.#deferred += 1;
    this.onChange?.(bucket);
  }

  /** Makes these the entries of a name. None removes the name; a new name goes to the end. */
  set(name: string, entries: ReadonlyArray<RegistryEntry>): void {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) {
      const [first] = entries;
      if (first === undefined) return;
      this.add(name, first);
      if (entries.length > 1) this.set(name, entries);
      return;
    }
    this.replace(bucket, entries);
  }

  /** {@link Store.set} for a bucket at hand, which must be one of this store. */
  replace(bucket: Bucket, entries: ReadonlyArray<RegistryEntry>): void {
    if (entries.length === 0) this.#buckets.delete(bucket.name);
    this.#size += entries.length - bucket.entries.length;
    this.#deferred += countDeferred(entries) - countDeferred(bucket.entries);
    bucket.entries = entries;
    this.onChange?.(bucket);
  }

  /** Every entry, or those that pass, in a new frozen array. */
  list(test?: (entry: RegistryEntry) => boolean): ReadonlyArray<RegistryEntry> {
    const all: RegistryEntry[] = [];
    for (const { entries } of this.#buckets.values()) {
      for (const entry of entries) if (test === undefined || test(entry)) all.push(entry);
    }
    return Object.freeze(all);
  }

  clear(): void {
    this.#buckets.clear();
    this.#size = 0;
    this.#deferred = 0;
  }
}

function countDeferred(entries: ReadonlyArray<RegistryEntry>): number {
  let count = 0;
  for (const entry of entries) if (entry.__effectiveDeferLoading) count++;
  return count;
}
