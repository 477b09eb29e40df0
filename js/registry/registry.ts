import { createRegisteredEvent, observeHistogram, type ToolAuditEvent } from '../audit/index.js';
import type { Tool, ToolSource } from '../core/index.js';
import { DuplicateToolNameError } from '../errors/index.js';
import { CollisionResolver } from './collisions.js';
import { driftOf, fingerprintOf } from './fingerprint.js';
import { normaliseTool } from './normalise.js';
import { Projector } from './project.js';
import { DeferredSearch } from './search.js';
import { Sink } from './sink.js';
import { isFirstPartyLike, isSameSource } from './source.js';
import { Store } from './store.js';
import type {
  CollisionContext,
  CollisionResolution,
  CollisionStrategy,
  RegistryEntry,
  ToolRegistry,
  ToolRegistryOptions,
} from './types.js';
import { WarningLog } from './warnings.js';

const FIRST_PARTY: ToolSource = Object.freeze({ kind: 'first-party' });
const DEFAULT_K = 5;

/**
 * Makes an empty registry. It owns no thread, timer or handle: thousands can come and go.
 *
 * @example
 * const registry = createToolRegistry();
 * registry.register(weather);
 * for (const tool of tools) registry.register(tool, { kind: 'mcp', serverIdentity: 'linear' });
 * registry.assertNoDuplicates('auto-prefix', { source: { kind: 'first-party' } });
 */
export function createToolRegistry(opts: ToolRegistryOptions = {}): ToolRegistry {
  const store = new Store();
  const sink = new Sink(opts);
  const warnings = new WarningLog(sink);
  const projector = new Projector(sink);
  const search = new DeferredSearch(store, sink, projector, opts);
  const { deferLoadingByDefault } = opts;
  const normaliseOptions = deferLoadingByDefault === undefined ? {} : { deferLoadingByDefault };

  function register<TInput, TOutput, TDeps>(
    tool: Tool<TInput, TOutput, TDeps>,
    source: ToolSource = FIRST_PARTY,
  ): RegistryEntry<TInput, TOutput, TDeps> {
    const { resolved, warnings: found } = normaliseTool(tool, source, normaliseOptions);
    // The store holds tools of all types; what goes in under a name comes out as the caller's type.
    const entry = resolved as unknown as RegistryEntry;
    sink.saving(() => {
      for (const warning of found) warnings.report(warning, source);
      countRegistration(entry, sink);
      place(store, sink, entry, source);
    });
    if (sink.isHeard) sink.emit(registeredEvent(entry));
    return resolved;
  }

  function get(name: string): RegistryEntry | undefined {
    const entries = store.entries(name);
    return entries.length < 2
      ? entries[0]
      : (entries.find((entry) => isFirstPartyLike(entry.__source)) ?? entries[0]);
  }

  function assertNoDuplicates(): void;
  function assertNoDuplicates(
    strategy: CollisionStrategy,
    ctx: CollisionContext,
  ): ReadonlyArray<CollisionResolution>;
  function assertNoDuplicates(
    strategy?: CollisionStrategy,
    ctx?: CollisionContext,
  ): ReadonlyArray<CollisionResolution> | void {
    if (strategy === undefined) {
      checkFirstParty(store);
      return;
    }
    if (ctx === undefined) {
      throw new TypeError(
        "ToolRegistry.assertNoDuplicates(strategy, ctx): the 'ctx' argument is required with a strategy.",
      );
    }
    const started = performance.now();
    const resolutions = new CollisionResolver(store, sink, strategy, ctx).run();
    observeHistogram('tool.collision.resolution.duration_ms', performance.now() - started, { strategy });
    return resolutions;
  }

  function fingerprint(name: string): string | undefined {
    const entry = get(name);
    return entry === undefined ? undefined : fingerprintOf(entry, projector);
  }

  return {
    register,
    unregister(name) {
      const known = store.bucket(name) !== undefined;
      store.set(name, []);
      return known;
    },
    get: get as ToolRegistry['get'],
    list: () => store.list(),
    listEager: () => store.list((entry) => !entry.__effectiveDeferLoading),
    listDeferred: () => store.list((entry) => entry.__effectiveDeferLoading),
    listByTag: (tag) => store.list((entry) => tag !== '' && (entry.tags?.includes(tag) ?? false)),
    assertNoDuplicates,
    async searchDeferred(query, k = DEFAULT_K) {
      return search.run(query, k);
    },
    size: () => store.size,
    clear() {
      search.clear();
      store.clear();
      warnings.clear();
    },
    fingerprint,
    drift: (previous) => driftOf(store, previous, fingerprint),
  };
}

function countRegistration(entry: RegistryEntry, sink: Sink): void {
  const { name, __preferredModel: preferred } = entry;
  if (preferred !== undefined) {
    const hintKind = typeof preferred === 'string' ? `tier-${preferred}` : 'spec';
    sink.count(`tool.preferred-model.hint.declared.total{hintKind=${hintKind},toolName=${name}}`);
  }
  sink.countOften(
    entry.__effectiveDeferLoading
      ? 'tool.retrieval.deferred.total{source=explicit}'
      : 'tool.retrieval.eager.total',
  );
  if (entry.__streamingHint) sink.count(`tool.streaming.tools.registered.total{toolName=${name}}`);
}

/** Puts an entry into its bucket: a second one of the same source takes the first one's place. */
function place(store: Store, sink: Sink, entry: RegistryEntry, source: ToolSource): void {
  const { name } = entry;
  const others = store.bucket(name)?.entries;
  if (others === undefined) {
    store.add(name, entry);
    return;
  }
  if (source.kind === 'first-party' && others.some((other) => other.__source.kind === 'first-party')) {
    throw new DuplicateToolNameError(name);
  }
  const at = others.findIndex((other) => isSameSource(other.__source, source));
  if (at < 0) {
    store.set(name, [...others, entry]);
  } else {
    store.set(name, others.with(at, entry));
    sink.count(`tool.registry.same-source-replaced.total{sourceKind=${source.kind},toolName=${name}}`);
  }
}

function registeredEvent(entry: RegistryEntry): ToolAuditEvent {
  return createRegisteredEvent({
    toolName: entry.name,
    trustClass: entry.__trustClass,
    sideEffectClass: entry.__sideEffectClass,
    hasIdempotencyKey: entry.__hasIdempotencyKey,
    streamingHint: entry.__streamingHint,
    inboundSanitization: entry.inboundSanitization ?? 'detect-and-strip-and-wrap',
    truncationStrategy: entry.truncationStrategy ?? 'middle',
    maxResultTokens: entry.maxResultTokens ?? 0,
    deferLoading: entry.__effectiveDeferLoading,
    examplesCount: entry.__exampleCount,
  });
}

function checkFirstParty(store: Store): void {
  for (const { name, entries } of store.buckets()) {
    const own = entries.filter((entry) => entry.__source.kind === 'first-party');
    if (own.length > 1) throw new DuplicateToolNameError(name);
  }
}
