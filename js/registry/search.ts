import { observeHistogram } from '../audit/index.js';
import { LexicalIndex } from './lexical.js';
import type { Projector } from './project.js';
import { clampScore, SemanticStage } from './semantic.js';
import type { Sink } from './sink.js';
import type { Store } from './store.js';
import type { RegistryEntry, ToolRegistryOptions, ToolSearchMatch } from './types.js';

type Stage = ToolSearchMatch['source'];

/** What a name or tag match scores: it says that the tool fits, not how well. */
const NAME_SCORE = 0.5;
const DEFAULT_THRESHOLD = 0.5;
const NOTHING: ReadonlyArray<ToolSearchMatch> = Object.freeze([]);

interface Found {
  readonly entry: RegistryEntry;
  readonly score: number;
  readonly source: Stage;
}

/** Searches the deferred tools of one registry (spec 01 section 6.6). @internal */
export class DeferredSearch {
  readonly #store: Store;
  readonly #sink: Sink;
  readonly #projector: Projector;
  readonly #lexical: LexicalIndex;
  readonly #semantic: SemanticStage | undefined;

  constructor(store: Store, sink: Sink, projector: Projector, options: ToolRegistryOptions) {
    this.#store = store;
    this.#sink = sink;
    this.#projector = projector;
    this.#lexical = new LexicalIndex(store);
    const threshold = options.semanticScoreThreshold ?? DEFAULT_THRESHOLD;
    this.#semantic = options.embedder ? new SemanticStage(options.embedder, threshold) : undefined;
  }

  clear(): void {
    this.#lexical.clear();
    this.#semantic?.clear();
  }

  async run(query: string, k: number): Promise<ReadonlyArray<ToolSearchMatch>> {
    if (this.#store.deferredCount === 0 || query.trim() === '') return NOTHING;
    const started = performance.now();
    const found = new Map<string, Found>();
    const stages = new Set<Stage>();
    const add = (entry: RegistryEntry, score: number, source: Stage): void => {
      if (found.has(entry.name)) return;
      found.set(entry.name, { entry, score, source });
      stages.add(source);
    };

    if (this.#semantic !== undefined) {
      const pool = this.#store.list((entry) => entry.__effectiveDeferLoading);
      for (const { entry, score } of await this.#semantic.search(query, pool, k)) add(entry, score, 'semantic');
    }
    if (found.size < k) {
      for (const { entry, score } of this.#lexical.ranked(query, k)) {
        add(entry, score, 'bm25');
        if (found.size >= k) break;
      }
    }
    if (found.size < k) {
      for (const entry of this.#lexical.named(query, found, k - found.size)) {
        add(entry, NAME_SCORE, 'regex-name');
      }
    }

    const [only] = stages;
    const stage = only !== undefined && stages.size === 1 ? only : 'mixed';
    const matches = Array.from(found.values(), (match) => this.#match(match));
    this.#sink.countOften(`tool.retrieval.search.invoked.total{stage=${stage}}`);
    observeHistogram('tool.retrieval.search.duration_ms', performance.now() - started, { stage });
    return Object.freeze(matches);
  }

  #match({ entry, score, source }: Found): ToolSearchMatch {
    const { inputSchema, outputSchema } = this.#projector.project(entry);
    return Object.freeze({
      name: entry.name,
      description: entry.description,
      inputSchema: inputSchema ?? {},
      ...(outputSchema === undefined ? {} : { outputSchema }),
      score: clampScore(score),
      source,
    });
  }
}
