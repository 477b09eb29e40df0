import type { SearchIndex } from '../../native/binding.js';
import { native } from '../binding.js';
import { searchText, tagsOf } from './search-text.js';
import type { Bucket, Store } from './store.js';
import type { RegistryEntry } from './types.js';

/** Text that has no exact counterpart on the native side: lone surrogates and what replaces them. */
const INEXACT = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\ufffd/;
const MAX_LIMIT = 0xffff_ffff;

/** An entry a lexical stage found. @internal */
export interface LexicalMatch {
  readonly entry: RegistryEntry;
  readonly score: number;
}

/**
 * The lexical stages over the deferred entries of a store. The native index is made at the first
 * search; from then on changed names are noted and brought up to date when the next search needs
 * them, so that registering never waits for indexing and a search pays for changes only.
 *
 * @internal
 */
export class LexicalIndex {
  readonly #store: Store;
  #index: SearchIndex | undefined;
  readonly #byOrder = new Map<number, Bucket>();
  readonly #changed = new Set<Bucket>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Forgets the index; the next search starts anew. */
  clear(): void {
    this.#index = undefined;
    this.#byOrder.clear();
    this.#changed.clear();
    this.#store.onChange = undefined;
  }

  /** The best matches by BM25; the first entry of a name stands for all of them. */
  ranked(query: string, k: number): LexicalMatch[] {
    const found = this.#upToDate().query(query, k);
    const matches: LexicalMatch[] = [];
    for (let at = 0; at + 1 < found.length; at += 2) {
      const entry = this.#deferred(found[at] ?? -1)[0];
      if (entry !== undefined) matches.push({ entry, score: found[at + 1] ?? 0 });
    }
    return matches;
  }

  /** The entries whose name or a tag contains the text, none of the names in `skip`. */
  named(needle: string, skip: ReadonlyMap<string, unknown>, limit: number): RegistryEntry[] {
    if (INEXACT.test(needle)) return this.#namedSlowly(needle, skip, limit);
    const index = this.#upToDate();
    const orders: number[] = [];
    for (const name of skip.keys()) {
      const bucket = this.#store.bucket(name);
      if (bucket !== undefined) orders.push(bucket.order);
    }
    const found = index.findNames(needle, orders, Math.min(Math.ceil(limit), MAX_LIMIT));
    const entries: RegistryEntry[] = [];
    for (let at = 0; at + 1 < found.length; at += 2) {
      const entry = this.#deferred(found[at] ?? -1)[found[at + 1] ?? 0];
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }

  #namedSlowly(needle: string, skip: ReadonlyMap<string, unknown>, limit: number): RegistryEntry[] {
    const lowered = needle.toLowerCase();
    const found = new Map<string, RegistryEntry>();
    for (const { name, entries } of this.#store.buckets()) {
      if (found.size >= limit) break;
      if (skip.has(name)) continue;
      const entry = entries.find(
        (candidate) =>
          candidate.__effectiveDeferLoading &&
          [name, ...tagsOf(candidate)].some((field) => field.toLowerCase().includes(lowered)),
      );
      if (entry !== undefined) found.set(name, entry);
    }
    return [...found.values()];
  }

  #deferred(order: number): ReadonlyArray<RegistryEntry> {
    return deferredEntries(this.#byOrder.get(order));
  }

  #upToDate(): SearchIndex {
    if (this.#index === undefined) {
      this.#index = new (native().SearchIndex)();
      this.#store.onChange = (bucket) => this.#changed.add(bucket);
      for (const bucket of this.#store.buckets()) this.#add(this.#index, bucket);
    }
    for (const bucket of this.#changed) {
      if (this.#byOrder.delete(bucket.order)) this.#index.remove(bucket.order);
      this.#add(this.#index, bucket);
    }
    this.#changed.clear();
    return this.#index;
  }

  #add(index: SearchIndex, bucket: Bucket): void {
    for (const entry of deferredEntries(bucket)) {
      const tags = tagsOf(entry);
      // One crossing a document: there may be tens of thousands.
      index.addNamed(bucket.order, searchText(entry), entry.name, tags.length === 0 ? undefined : [...tags]);
      this.#byOrder.set(bucket.order, bucket);
    }
  }
}

function deferredEntries(bucket: Bucket | undefined): ReadonlyArray<RegistryEntry> {
  const entries = bucket?.entries ?? [];
  return entries.every((entry) => entry.__effectiveDeferLoading)
    ? entries
    : entries.filter((entry) => entry.__effectiveDeferLoading);
}
