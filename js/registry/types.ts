import type { ToolAuditEvent } from '../audit/index.js';
import type {
  ResolvedTool,
  SideEffectClass,
  Tool,
  ToolSource,
} from '../core/index.js';

/**
 * What to do with one name from several sources: rename the losers after their source, keep the most
 * trusted and drop the rest, or throw.
 */
export type CollisionStrategy = 'auto-prefix' | 'priority' | 'manual';

/** Who asks for a resolution, and with what weight. */
export interface CollisionContext {
  /** The source whose entries `priority` is added to. It does not restrict what is resolved. */
  readonly source: ToolSource;
  /** Added to the rung of that source's entries under the strategy `priority`. */
  readonly priority?: number;
}

/** A registered tool. Frozen, and the same object until it is replaced. */
export type RegistryEntry<TInput = unknown, TOutput = unknown, TDeps = unknown> = ResolvedTool<
  TInput,
  TOutput,
  TDeps
>;

/** Turns texts into vectors for semantic search. Any failure falls back to lexical search. */
export interface ToolSearchEmbedder {
  /** Names the model; part of the cache key of every vector. */
  id(): string;
  /** Length of each vector. */
  dim(): number;
  /** One vector a text, in order. */
  embed(texts: ReadonlyArray<string>, signal?: AbortSignal): Promise<ReadonlyArray<Float32Array>>;
}

/** A deferred tool that a search found. Frozen; the schemas inside are not. */
export interface ToolSearchMatch {
  /** Name of the tool. */
  readonly name: string;
  /** What it does, for a model to read. */
  readonly description: string;
  /** JSON Schema; `{}` when the tool's schema has none. */
  readonly inputSchema: Record<string, unknown>;
  /** JSON Schema of the result, when it is known. */
  readonly outputSchema?: Record<string, unknown>;
  /** 0 to 1. Comparable within one `source` of one search only. */
  readonly score: number;
  /** The stage that found it; `regex-name` is a plain substring of the name or a tag. */
  readonly source: 'semantic' | 'bm25' | 'regex-name';
}

/** What became of one colliding name, or of one loser under `auto-prefix`. */
export type CollisionResolution =
  | {
      readonly toolName: string;
      readonly winner: ToolSource;
      readonly losers: ReadonlyArray<ToolSource>;
      readonly action: 'priority-resolved';
      readonly tieBreakReason: 'first-party-precedence' | 'explicit-priority' | 'registration-order';
    }
  | {
      readonly toolName: string;
      readonly winner: ToolSource;
      readonly losers: ReadonlyArray<ToolSource>;
      readonly action: 'auto-prefix-applied';
      readonly renamed: {
        readonly from: string;
        readonly to: string;
        /** The prefix before the fallback for sources without a letter or digit; may be empty. */
        readonly namespaceSource: string;
      };
    }
  | {
      readonly toolName: string;
      readonly conflictingSources: ReadonlyArray<ToolSource>;
      readonly action: 'manual-rejected';
    }
  | {
      readonly toolName: string;
      readonly winner: ToolSource;
      readonly losers: ReadonlyArray<ToolSource>;
      readonly action: 'first-party-precedence';
    }
  | {
      readonly toolName: string;
      readonly winner: ToolSource;
      readonly losers: ReadonlyArray<ToolSource>;
      readonly action: 'suppressed';
    };

/** Options of a registry. */
export interface ToolRegistryOptions {
  /** Adds a semantic stage before the lexical ones. */
  readonly embedder?: ToolSearchEmbedder;
  /** Takes this registry's audit rows instead of the bus; what it throws reaches the caller. */
  readonly emitAudit?: (event: ToolAuditEvent) => void;
  /** Least cosine, 0 to 1, a semantic match needs. Default 0.5, inclusive. */
  readonly semanticScoreThreshold?: number;
  /** Defer tools that do not say, except built-in ones. Default false. */
  readonly deferLoadingByDefault?: boolean;
}

/** Options of `normaliseTool`. */
export interface NormaliseToolOptions {
  /** Defer a tool that does not say, except a built-in one. Default false. */
  readonly deferLoadingByDefault?: boolean;
}

/** Something about a declaration worth telling its author. */
export type NormaliseWarning =
  | { readonly kind: 'classification:missing'; readonly toolName: string }
  | {
      readonly kind: 'classification:idempotency-key-missing';
      readonly toolName: string;
      readonly sideEffectClass: SideEffectClass;
    }
  | { readonly kind: 'examples:overflow'; readonly toolName: string; readonly count: number }
  | { readonly kind: 'result:cap-disabled'; readonly toolName: string }
  | { readonly kind: 'sandbox:advisory-inline'; readonly toolName: string; readonly policy: string };

/** What `normaliseTool` returns. */
export interface NormaliseOutcome<TInput, TOutput, TDeps> {
  /** Frozen. */
  readonly resolved: ResolvedTool<TInput, TOutput, TDeps>;
  /** In a fixed order; empty when there is nothing to say. */
  readonly warnings: ReadonlyArray<NormaliseWarning>;
  /** Whether the side effect class is the source's default. */
  readonly deferredDefaultApplied: boolean;
}

/** How the tools of a registry differ from recorded fingerprints. Frozen, as are its lists. */
export interface RegistryDrift {
  /** Registered now, not recorded; in the order of `list()`. */
  readonly added: ReadonlyArray<string>;
  /** Recorded, not registered now; in the order of the record. */
  readonly removed: ReadonlyArray<string>;
  /** Both, with another fingerprint; in the order of `list()`. */
  readonly changed: ReadonlyArray<string>;
}

/**
 * Holds tools by name. Its functions work detached from the object and can be replaced on it.
 * Names are kept as they are: `then`, `constructor` or `__proto__` are names like any other.
 */
export interface ToolRegistry {
  /**
   * Adds a tool, with the defaults of its source filled in. The same tool from the same source again
   * replaces the first; from another source it waits for {@link assertNoDuplicates}. Warnings become
   * one counter and one audit row each, once a name.
   *
   * @param source where the tool comes from; `{ kind: 'first-party' }` when left out.
   * @returns the frozen entry that `get` and `list` hand out.
   * @throws InvalidPreferredModelError, InvalidSideEffectClassError, InvalidExampleError, in this
   * order, when the declaration is wrong.
   * @throws DuplicateToolNameError for a second first-party tool of one name.
   */
  register<TInput, TOutput, TDeps>(
    tool: Tool<TInput, TOutput, TDeps>,
    source?: ToolSource,
  ): RegistryEntry<TInput, TOutput, TDeps>;
  /** Removes a name with the entries of all sources; tells whether there was one. */
  unregister(name: string): boolean;
  /** The entry of a name; of several, the first that is first-party or built-in, else the first. */
  get<TInput = unknown, TOutput = unknown, TDeps = unknown>(
    name: string,
  ): RegistryEntry<TInput, TOutput, TDeps> | undefined;
  /** All entries in a new frozen array: by first appearance of the name, then by registration. */
  list(): ReadonlyArray<RegistryEntry>;
  /** The entries whose definition the model gets from the start. */
  listEager(): ReadonlyArray<RegistryEntry>;
  /** The entries that are withheld until a search finds them. */
  listDeferred(): ReadonlyArray<RegistryEntry>;
  /** The entries that carry exactly this tag; none for `''`. */
  listByTag(tag: string): ReadonlyArray<RegistryEntry>;
  /** Throws DuplicateToolNameError when two first-party tools share a name; changes nothing. */
  assertNoDuplicates(): void;
  /**
   * Resolves every name that several sources claim. First-party and built-in tools always keep their
   * name; among others trust decides, and among equals who came first.
   *
   * @returns one frozen list of what was done.
   * @throws ToolCollisionError at the first collision under `manual`.
   * @throws TypeError when `ctx` is missing.
   */
  assertNoDuplicates(
    strategy: CollisionStrategy,
    ctx: CollisionContext,
  ): ReadonlyArray<CollisionResolution>;
  /**
   * Searches the deferred tools: by meaning if there is an embedder, then by words (BM25 over name,
   * description, tags and example comments), then by a substring of name or tag. Earlier stages rank
   * first. The index is built at the first search and kept up to date from then on.
   *
   * @param k how many results at most. Default 5.
   */
  searchDeferred(query: string, k?: number): Promise<ReadonlyArray<ToolSearchMatch>>;
  /** How many entries there are, unresolved duplicates included. */
  size(): number;
  /** Forgets entries, search index, embeddings and which warnings were given. */
  clear(): void;
  /**
   * A hash, 64 hex digits, of what the model is shown of a tool: name, description, input and output
   * JSON Schema, examples. The order of keys does not matter. Undefined for an unknown name.
   */
  fingerprint(name: string): string | undefined;
  /**
   * Compares the registry with fingerprints recorded earlier, to notice a definition that a server
   * changed after it was approved.
   *
   * @example
   * const approved = Object.fromEntries(registry.list().map(({ name }) => [name, registry.fingerprint(name)]));
   * // after the server was asked for its tools again
   * if (registry.drift(approved).changed.length > 0) askTheUser();
   */
  drift(previous: Readonly<Record<string, string | undefined>>): RegistryDrift;
}
