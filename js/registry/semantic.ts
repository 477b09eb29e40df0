import { searchText } from './search-text.js';
import type { RegistryEntry, ToolSearchEmbedder } from './types.js';

/** An entry and how close it is. @internal */
export interface SemanticMatch {
  readonly entry: RegistryEntry;
  readonly score: number;
}

/**
 * The semantic stage: cosine between the query's vector and those of the tools, which are asked for
 * once per text. Whatever goes wrong, the stage finds nothing and the lexical ones take over.
 *
 * @internal
 */
export class SemanticStage {
  readonly #embedder: ToolSearchEmbedder;
  readonly #threshold: number;
  #vectors = new Map<string, Float32Array>();

  constructor(embedder: ToolSearchEmbedder, threshold: number) {
    this.#embedder = embedder;
    this.#threshold = threshold;
  }

  clear(): void {
    // A search that waits for vectors keeps the old map and cannot bring them back.
    this.#vectors = new Map();
  }

  async search(query: string, pool: ReadonlyArray<RegistryEntry>, k: number): Promise<SemanticMatch[]> {
    try {
      return await this.#search(query, pool, k);
    } catch {
      // An embedder out of order must not take lexical search down with it.
      return [];
    }
  }

  async #search(query: string, pool: ReadonlyArray<RegistryEntry>, k: number): Promise<SemanticMatch[]> {
    const vectors = this.#vectors;
    const [wanted] = await this.#embedder.embed([query]);
    if (wanted === undefined) return [];
    const keyed = pool.map((entry) => {
      const text = searchText(entry);
      return { entry, text, key: `${this.#embedder.id()}:${entry.name}:${text}` };
    });
    const unknown = keyed.filter(({ key }) => !vectors.has(key));
    if (unknown.length > 0) {
      const fresh = await this.#embedder.embed(unknown.map(({ text }) => text));
      unknown.forEach(({ key }, at) => {
        const vector = fresh[at];
        if (vector !== undefined) vectors.set(key, vector);
      });
    }
    const scored: SemanticMatch[] = [];
    for (const { entry, key } of keyed) {
      const vector = vectors.get(key);
      if (vector !== undefined) scored.push({ entry, score: clampScore(cosine(wanted, vector)) });
    }
    return scored
      .sort((a, b) => b.score - a.score)
      .slice(0, k)
      .filter(({ score }) => score >= this.#threshold);
  }
}

/** A score as matches carry it. @internal */
export function clampScore(score: number): number {
  return Math.max(0, Math.min(1, score));
}

/** In double precision over the components both have; 0 when either is zero. */
function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let dot = 0;
  let normA = 0;
  let normB = 0;
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const x = a[at] ?? 0;
    const y = b[at] ?? 0;
    dot += x * y;
    normA += x * x;
    normB += y * y;
  }
  return normA === 0 || normB === 0 ? 0 : dot / (Math.sqrt(normA) * Math.sqrt(normB));
}
