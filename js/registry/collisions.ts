import type { ToolSource } from '../core/index.js';
import { ToolCollisionError } from '../errors/index.js';
import { namespaceOf, prefixedName, type Namespace } from './namespace.js';
import type { Sink } from './sink.js';
import { describeSource, isFirstPartyLike, isSameSource, trustRung } from './source.js';
import type { Bucket, Store } from './store.js';
import type { CollisionContext, CollisionResolution, CollisionStrategy, RegistryEntry } from './types.js';

type Entries = ReadonlyArray<RegistryEntry>;

/**
 * Settles every name that several sources claim (spec 01 section 6.5), looking once at each name
 * there is at the start: names that a rename makes are not looked at again.
 *
 * @internal
 */
export class CollisionResolver {
  readonly #store: Store;
  readonly #sink: Sink;
  readonly #strategy: CollisionStrategy;
  readonly #ctx: CollisionContext;
  readonly #detected: string;
  readonly #namespaces = new Map<string, Known>();
  #last: Known | undefined;
  readonly #resolutions: CollisionResolution[] = [];

  constructor(store: Store, sink: Sink, strategy: CollisionStrategy, ctx: CollisionContext) {
    this.#store = store;
    this.#sink = sink;
    this.#strategy = strategy;
    this.#ctx = ctx;
    this.#detected = `tool.collision.detected.total{strategy=${strategy}}`;
  }

  /** Does it; throws ToolCollisionError under `manual`. */
  run(): ReadonlyArray<CollisionResolution> {
    for (const bucket of [...this.#store.buckets()]) if (bucket.entries.length > 1) this.#settle(bucket);
    return Object.freeze(this.#resolutions);
  }

  #settle(bucket: Bucket): void {
    const { name, entries } = bucket;
    const strategy = this.#strategy;
    const sink = this.#sink;
    // Asked here too, so that thousands of collisions nobody hears of make no closures.
    if (sink.isHeard) {
      sink.report('tool:collision:detected', name, () => ({ strategy, sources: sourcesOf(entries) }));
    }
    sink.countOften(this.#detected);
    const firstParty = entries.find((entry) => isFirstPartyLike(entry.__source));
    if (strategy === 'auto-prefix') {
      this.#prefix(bucket, firstParty ?? highest(entries, rungOf));
      return;
    }
    if (firstParty !== undefined) this.#preferFirstParty(bucket, firstParty);
    else if (strategy === 'priority') this.#rank(bucket);
    if (strategy === 'manual') this.#reject(name, sourcesOf(entries));
  }

  /** Leaves one entry under a name. A listener may have changed the store under our hands. */
  #keep(bucket: Bucket, winner: RegistryEntry): void {
    if (this.#sink.isHeard) this.#store.set(bucket.name, [winner]);
    else this.#store.replace(bucket, [winner]);
  }

  /** The winner keeps the name, everybody else gets one with his source before it. */
  #prefix(bucket: Bucket, winner: RegistryEntry): void {
    const { name, entries } = bucket;
    this.#keep(bucket, winner);
    for (const loser of entries) {
      if (loser === winner) continue;
      const namespace = this.#namespaceOf(loser.__source);
      const to = prefixedName(namespace.prefix, name);
      if (this.#store.bucket(to) === undefined) this.#rename(name, winner, loser, to, namespace);
      else this.#suppress(name, winner, loser);
    }
  }

  #rename(name: string, winner: RegistryEntry, loser: RegistryEntry, to: string, { label, key }: Known): void {
    this.#store.addRenamed(to, loser);
    this.#resolutions.push({
      toolName: name,
      winner: winner.__source,
      losers: [loser.__source],
      action: 'auto-prefix-applied',
      renamed: { from: name, to, namespaceSource: label },
    });
    const sink = this.#sink;
    if (sink.isHeard) {
      sink.report('tool:collision:auto-prefix-applied', name, () => ({ renamed: { from: name, to } }));
    }
    sink.countOften(key);
  }

  /** The new name is taken: dropping the loser is the only answer that renames nobody else. */
  #suppress(name: string, winner: RegistryEntry, loser: RegistryEntry): void {
    this.#resolutions.push({
      toolName: name,
      winner: winner.__source,
      losers: [loser.__source],
      action: 'suppressed',
    });
    const metadata = () => ({
      winner: describeSource(winner.__source),
      loser: describeSource(loser.__source),
    });
    this.#sink.report('tool:collision:suppressed', name, metadata, 'denied');
    this.#sink.countOften('tool.collision.suppressed.total');
  }

  #preferFirstParty(bucket: Bucket, winner: RegistryEntry): void {
    const { name, entries } = bucket;
    this.#keep(bucket, winner);
    this.#sink.countOften('tool.collision.first-party-suppressed.total{trustClass=first-party}');
    this.#resolutions.push({
      toolName: name,
      winner: winner.__source,
      losers: othersThan(winner, entries),
      action: 'first-party-precedence',
    });
  }

  #rank(bucket: Bucket): void {
    const { name, entries } = bucket;
    const { source, priority } = this.#ctx;
    const boost = (entry: RegistryEntry) => (isSameSource(entry.__source, source) ? (priority ?? 0) : 0);
    const winner = highest(entries, (entry) => rungOf(entry) + boost(entry));
    this.#keep(bucket, winner);
    const tieBreakReason = priority === undefined ? 'registration-order' : 'explicit-priority';
    this.#resolutions.push({
      toolName: name,
      winner: winner.__source,
      losers: othersThan(winner, entries),
      action: 'priority-resolved',
      tieBreakReason,
    });
    this.#sink.report('tool:collision:priority-resolved', name, () => ({ tieBreakReason }));
    this.#sink.countOften(`tool.collision.priority-resolved.total{tieBreakReason=${tieBreakReason}}`);
  }

  #reject(name: string, sources: ReadonlyArray<string>): never {
    const metadata = () => ({ strategy: this.#strategy, sources });
    this.#sink.report('tool:collision:manual-rejected', name, metadata, 'denied');
    this.#sink.countOften('tool.collision.manual-rejected.total');
    throw new ToolCollisionError({
      toolName: name,
      conflictingSources: sources,
      strategyAttempted: 'manual',
      resolutionOptions: ['auto-prefix', 'priority', 'filter-incoming'],
    });
  }

  /** One server's prefix is worked out once, however many of its tools collide. */
  #namespaceOf(source: ToolSource): Known {
    if (this.#last !== undefined && isSameSource(this.#last.source, source)) return this.#last;
    const described = describeSource(source);
    let known = this.#namespaces.get(described);
    if (known === undefined) {
      const namespace = namespaceOf(source);
      const key = `tool.collision.auto-prefix-applied.total{namespaceSource=${namespace.label}}`;
      known = { ...namespace, source, key };
      this.#namespaces.set(described, known);
    }
    this.#last = known;
    return known;
  }
}

/** What a source's renamed tools get, and where they are counted. */
interface Known extends Namespace {
  readonly source: ToolSource;
  readonly key: string;
}

function sourcesOf(entries: Entries): string[] {
  return entries.map((entry) => describeSource(entry.__source));
}

function rungOf(entry: RegistryEntry): number {
  return trustRung(entry.__trustClass);
}

/** The entry with the highest score, the earliest among equals. */
function highest(entries: Entries, score: (entry: RegistryEntry) => number): RegistryEntry {
  return entries.reduce((best, entry) => (score(entry) > score(best) ? entry : best));
}

function othersThan(winner: RegistryEntry, entries: Entries): ReadonlyArray<ToolSource> {
  return entries.filter((entry) => entry !== winner).map((entry) => entry.__source);
}
