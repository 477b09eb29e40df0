import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { defineBm25Index, tokenise, type Bm25Document } from 'ferrule/registry';

const doc = (id: string, text: string): Bm25Document => ({ id, text });
const found = (search: ReturnType<typeof defineBm25Index>, query: string, k?: number): [string, number][] =>
  search(query, k).map(({ id, score }) => [id, score]);

describe('tokenise (spec 01 section 6.7)', () => {
  it('12: the vector', () => {
    expect(
      tokenise('The Quick-brown_fox, 42! search_issues weather.lookup café naïve İstanbul \u212A'),
    ).toEqual(['quick', 'brown_fox', '42', 'search_issues', 'weather', 'lookup', 'caf', 'na', 've', 'i', 'stanbul', 'k']);
    expect(tokenise('this not you')).toEqual(['this', 'not', 'you']);
    expect(tokenise('')).toEqual([]);
    expect(tokenise('\ud800a \udfff b_')).toEqual(['b_']);
  });

  it('leaves out exactly the 27 words, or those of the given set', () => {
    const words = 'a an and are as at be but by for from has have in is it its of on or that the to was were will with';
    expect(tokenise(words)).toEqual([]);
    expect(tokenise(words, new Set())).toEqual(words.split(' '));
    expect(tokenise('The the fox', new Set(['fox']))).toEqual(['the', 'the']);
  });

  it('equals the definition in JavaScript (property)', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ maxLength: 40 }));
    fc.assert(
      fc.property(text, (value) => {
        expect(tokenise(value, new Set())).toEqual(value.toLowerCase().match(/[a-z0-9_]+/g) ?? []);
      }),
      { numRuns: 300 },
    );
  });
});

describe('defineBm25Index (spec 01 sections 6.7 and 12)', () => {
  const three = [
    doc('d1', 'search issues tracker issues'),
    doc('d2', 'list repos code'),
    doc('d3', 'send message tracker'),
  ];
  it.each<[string, [string, number][]]>([
    ['issues', [['d1', 1]]],
    ['tracker', [['d3', 1], ['d1', 0.8865546218487396]]],
    ['tracker tracker', [['d3', 1], ['d1', 0.8865546218487396]]],
    ['issue', []],
    ['code tracker', [['d2', 1], ['d3', 0.4791900606579037], ['d1', 0.4248281630202424]]],
    ['issues tracker', [['d1', 1], ['d3', 0.2863659027516865]]],
    ['the of', []],
    ['', []],
  ])('three documents: %j', (query, expected) => {
    expect(found(defineBm25Index(three), query)).toEqual(expected);
  });

  it('limits are those of slice', () => {
    const search = defineBm25Index(three);
    expect(found(search, 'tracker', 1)).toEqual([['d3', 1]]);
    expect(search('tracker', 0)).toEqual([]);
    expect(found(search, 'tracker', 1.9)).toEqual([['d3', 1]]);
    expect(found(search, 'tracker', -1)).toEqual([['d3', 1]]);
    expect(search('tracker', Number.NaN)).toEqual([]);
    expect(search('tracker', Number.POSITIVE_INFINITY)).toHaveLength(2);
    expect(search('tracker', undefined)).toHaveLength(2);
  });

  it('takes k1, b and stop words', () => {
    const search = defineBm25Index([three[0], three[2]] as Bm25Document[], { k1: 2, b: 0 });
    expect(found(search, 'tracker issues')).toEqual([['d1', 1], ['d3', 0.14919414219224872]]);
    const other = defineBm25Index(three, { stopwords: new Set(['tracker']) });
    expect(found(other, 'tracker issues')).toEqual([['d1', 1]]);
  });

  it.each<[string, [string, number][]]>([
    ['weather in a city', [['weather.lookup', 1], ['city.population', 0.4468834278775418]]],
    [
      'refund order city',
      [['refund.create', 1], ['city.population', 0.375088284715522], ['weather.lookup', 0.21906416628343517]],
    ],
    ['city city', [['city.population', 1], ['weather.lookup', 0.5840336134453782]]],
    ['order', [['refund.create', 1]]],
  ])('four documents: %j', (query, expected) => {
    const search = defineBm25Index([
      doc('weather.lookup', 'weather.lookup Look up the current weather for a city. weather forecast'),
      doc('orders.list', 'orders.list List orders, newest first. Pass the returned nextCursor to page.'),
      doc('refund.create', 'refund.create Issue a refund for a previously placed order.'),
      doc('city.population', 'city.population Population of a city'),
    ]);
    expect(found(search, query)).toEqual(expected);
  });

  it('ties keep the order of first touch', () => {
    const search = defineBm25Index([doc('a', 'red blue'), doc('b', 'blue red'), doc('c', 'green red')]);
    expect(found(search, 'blue red')).toEqual([['a', 1], ['b', 1], ['c', 0.2212487888618795]]);
    expect(found(search, 'green blue')).toEqual([['c', 1], ['a', 0.4791900606579037], ['b', 0.4791900606579037]]);
  });

  it('duplicate ids add up', () => {
    const search = defineBm25Index([doc('x', 'foo'), doc('x', 'foo bar'), doc('y', 'foo')]);
    expect(found(search, 'foo')).toEqual([['x', 1], ['y', 0.9240506329113923]]);
  });

  it('equals the formula in JavaScript, bit for bit (property)', () => {
    const word = fc.constantFrom('red', 'blue', 'green', 'the', 'a', 'x1', 'y_2');
    const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '));
    const docs = fc.array(fc.record({ id: fc.constantFrom('p', 'q', '__proto__', '\ud800', 'r'), text }), { maxLength: 12 });
    fc.assert(
      fc.property(docs, text, fc.double({ min: 0, max: 3, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (all, query, k1, b) => {
        expect(found(defineBm25Index(all, { k1, b }), query)).toEqual(reference(all, query, k1, b).slice(0, 5));
      }),
      { numRuns: 400 },
    );
  });
});

/** The formula of section 6.7, written down as plainly as possible. */
function reference(docs: readonly Bm25Document[], query: string, k1: number, b: number): [string, number][] {
  const lengths = new Map<string, number>();
  const postings = new Map<string, Map<string, number>>();
  let total = 0;
  for (const { id, text } of docs) {
    const tokens = tokenise(text);
    lengths.set(id, tokens.length);
    total += tokens.length;
    for (const token of tokens) {
      const posting = postings.get(token) ?? new Map<string, number>();
      postings.set(token, posting.set(id, (posting.get(id) ?? 0) + 1));
    }
  }
  const average = docs.length === 0 ? 0 : total / docs.length;
  const scores = new Map<string, number>();
  for (const token of tokenise(query)) {
    const posting = postings.get(token);
    if (posting === undefined) continue;
    const idf = Math.max(0, Math.log((docs.length - posting.size + 0.5) / (posting.size + 0.5) + 1));
    if (idf <= 0) continue;
    for (const [id, tf] of posting) {
      const norm = k1 * (1 - b + (b * (lengths.get(id) ?? 0)) / Math.max(1, average));
      scores.set(id, (scores.get(id) ?? 0) + idf * ((tf * (k1 + 1)) / (tf + norm)));
    }
  }
  const best = Math.max(...scores.values());
  return [...scores].map(([id, score]): [string, number] => [id, score / best]).sort((x, y) => y[1] - x[1]);
}
