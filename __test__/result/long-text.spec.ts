/** A long text is judged by its value, where the value is plain, and by its marks otherwise (spec 03 section 1.2). */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toResultEnvelope } from 'ferrule/result';

const textOf = (raw: unknown): string => toResultEnvelope({ raw }).textBody;

/** Longer than what is searched for marks. */
const filler = 'x'.repeat(2_200_000);

const odd: Array<() => unknown> = [
  () => ({}),
  () => new Map(),
  () => new Map([['k', 1]]),
  () => new Set([1]),
  () => new Uint8Array([1, 2]),
  () => new Error('e'),
  () => /re/g,
  () => new Date(0),
  () => new Date(Number.NaN),
  () => Object.assign(new Date(0), { toJSON: () => ({}) }),
  () => Object.create(null),
  () => Object.assign(Object.create(null), { a: 1 }),
  () => (function () { return arguments; })(),
  () => ({ [Symbol.toStringTag]: 'Odd' }),
  () => Object.setPrototypeOf(new Map(), Object.prototype),
  () => Object.setPrototypeOf(new Error('e'), Object.prototype),
  () => Object.setPrototypeOf(new Uint8Array([1, 2]), Object.prototype),
  () => Object.assign(Object.setPrototypeOf(new Map(), Array.prototype), { 0: 'a' }),
  () => ({ toJSON: () => new Map() }),
  () => Object.defineProperty({ a: 1 }, 'toJSON', { value: () => ({}) }),
  () => Object.assign(() => 1, { toJSON: () => ({}) }),
  () => [() => 1, undefined, Symbol('s'), , 1],
  () => ({ a: undefined, b: () => 1 }),
  () => ({ 0: 'numbered' }),
  () => Object(1n === 1n),
  () => new (class Row { a = {}; })(),
  () => new (class Empty {})(),
  () => new Proxy({ a: 1 }, {}),
  () => new Proxy(new Map(), {}),
  () => Object.defineProperty({}, 'a', { enumerable: true, get: () => new Set([1]) }),
  () => Array.from({ length: 40 }).reduce((inner: unknown) => ({ inner }), {}),
];

it('odd values in a long one have the form that their marks ask for', () => {
  const leaf = fc.oneof(fc.constantFrom(...odd).map((make) => make()), fc.jsonValue(), fc.double(), fc.constant(undefined));
  const value = fc.oneof(leaf, fc.array(leaf, { maxLength: 4 }), fc.dictionary(fc.string(), leaf, { maxKeys: 4 }));
  fc.assert(
    fc.property(value, (odd) => {
      const long = [odd, filler];
      const json = JSON.stringify(long);
      if (!json.includes('{}') && !json.includes('{"0":')) expect(textOf(long) === json).toBe(true);
      // What JSON refuses as a whole is walked value by value, and so is what has the marks.
      else expect(textOf(long) === textOf([...long, 1n]).replace(/,"1"\]$/, ']')).toBe(true);
    }),
    { numRuns: 150 },
  );
});

it('a getter that throws when it is asked again costs nothing', () => {
  let asked = 0;
  const moody = { filler, get a() { asked += 1; if (asked > 2) throw new Error('again'); return 1; } };
  expect(textOf(moody).endsWith('"a":1}')).toBe(true);
});

it('what was added to all lists or dates decides', () => {
  const rows = Array.from({ length: 40_000 }, (_, id) => ({ id, at: new Date(id), text: 'some more of it' }));
  expect(textOf(rows) === JSON.stringify(rows)).toBe(true);
  const own = Date.prototype.toJSON;
  try {
    Date.prototype.toJSON = () => new Map() as never;
    expect(textOf([{ at: new Date(0) }, filler]).startsWith('[{"at":{}},')).toBe(true);
    Date.prototype.toJSON = () => new Map([['k', 1]]) as never;
    expect(textOf([{ at: new Date(0) }, filler]).startsWith('[{"at":{"k":1}},')).toBe(true);
  } finally {
    Date.prototype.toJSON = own;
  }
});

it('an object of thousands of fields is judged by its marks', () => {
  const fields = Array.from({ length: 20_000 }, (_, at) => [`field ${at}`, at] as const);
  const plain = { rows: Object.fromEntries(fields) };
  expect(textOf(plain) === JSON.stringify(plain)).toBe(true);
  const odd = { rows: Object.fromEntries<unknown>([...fields, ['m', new Map([['k', 1]])]]) };
  expect(textOf(odd) === JSON.stringify({ rows: { ...odd.rows, m: { k: 1 } } })).toBe(true);
});
