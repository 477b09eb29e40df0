import { native } from '../binding.js';

/** A document of {@link defineBm25Index}. */
export interface Bm25Document {
  /** Documents of one id are scored as one, with their counts added up. */
  readonly id: string;
  /** What is searched. */
  readonly text: string;
}

/** A match of {@link defineBm25Index}. */
export interface Bm25Match {
  /** Id of the document. */
  readonly id: string;
  /** A share of the best match's score, which is 1. */
  readonly score: number;
}

/** Options of {@link defineBm25Index}. */
export interface Bm25Options {
  /** How soon repetitions stop to count. Default 1.2. */
  readonly k1?: number;
  /** How much long documents are held back, 0 to 1. Default 0.75. */
  readonly b?: number;
  /** Words left out of documents and queries; read once. Default: 27 English function words. */
  readonly stopwords?: ReadonlySet<string>;
}

/**
 * The words of a text as lexical search sees them: runs of `[a-z0-9_]` after lower-casing, without
 * stop words, in order and with repetitions. No stemming.
 *
 * @param stopwords replaces the default list of 27 English function words.
 *
 * @example tokenise('The search_issues tool'); // ['search_issues', 'tool']
 */
export function tokenise(text: string, stopwords?: ReadonlySet<string>): string[] {
  if (!stopwords) return native().tokeniseText(text, false);
  return native()
    .tokeniseText(text, true)
    .filter((token) => !stopwords.has(token));
}

/**
 * Builds a BM25 index over texts, once.
 *
 * @returns a search function: best matches first, at most `k` of them (default 5); equal scores in
 * the order of the documents. Empty when no word of the query is known.
 *
 * @example
 * const search = defineBm25Index([{ id: 'a', text: 'list repos' }, { id: 'b', text: 'send mail' }]);
 * search('mail'); // [{ id: 'b', score: 1 }]
 */
export function defineBm25Index(
  docs: ReadonlyArray<Bm25Document>,
  opts: Bm25Options = {},
): (query: string, k?: number) => Bm25Match[] {
  const stopwords = opts.stopwords ? [...opts.stopwords] : undefined;
  const index = new (native().SearchIndex)(opts.k1 ?? undefined, opts.b ?? undefined, stopwords);
  const keys = new Map<string, number>();
  const ids: string[] = [];
  docs.forEach(({ id, text }, order) => {
    let key = keys.get(id);
    if (key === undefined) {
      key = ids.push(id) - 1;
      keys.set(id, key);
    }
    index.add(key, order, text);
  });
  return (query, k = 5) => {
    const found = index.query(query, Number(k));
    const matches: Bm25Match[] = [];
    for (let at = 0; at + 1 < found.length; at += 2) {
      matches.push({ id: ids[found[at] ?? 0] ?? '', score: found[at + 1] ?? 0 });
    }
    return matches;
  };
}
