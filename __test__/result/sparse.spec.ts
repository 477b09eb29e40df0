/** Lists with more holes than JSON can write in a sensible time (spec 03 section 1.2). */
import { toResultEnvelope } from 'ferrule/result';
import { expect, it } from 'vitest';
import { bench, entry, success } from '../executor/kit.js';

const textOf = (raw: unknown): string => toResultEnvelope({ raw }).textBody;
const sparse = (places: number, at = places - 1): unknown[] => {
  const list: unknown[] = [];
  // Not by its length where a place will do: the engine would set so much memory aside.
  list[at] = 1;
  if (at < places - 1) list.length = places;
  return list;
};
const ABRIDGED = '{"4294967294":1,"[Sparse list]":4294967295}';

it('a list of four billion places has its elements by place, wherever it stands', () => {
  expect(textOf(sparse(2 ** 32 - 1))).toBe(ABRIDGED);
  expect(textOf({ rows: [sparse(2 ** 32 - 1)], n: 1 })).toBe(`{"rows":[${ABRIDGED}],"n":1}`);
  expect(textOf(new Map([['rows', sparse(2 ** 32 - 1)]]))).toBe(`{"rows":${ABRIDGED}}`);
  const named = Object.assign(sparse(2 ** 31, 7), { note: 'x' });
  named[8] = new Map([['a', 1n]]);
  expect(textOf(named)).toBe('{"7":1,"8":{"a":"1"},"[Sparse list]":2147483648}');
});

it('many lists that have too many holes together are written as far as they may', () => {
  const lists = Array.from({ length: 2_000 }, () => sparse(900_000));
  const text = textOf(lists);
  expect(text.startsWith('[[null,null,')).toBe(true);
  expect(text.endsWith(',{"899999":1,"[Sparse list]":900000}]')).toBe(true);
  expect(text.length).toBeLessThan(6_000_000);
});

it('up to a million holes stay as JSON has them, and full lists of any length', () => {
  for (const value of [sparse(1_000_000), sparse(900_000, 0), { list: sparse(5_000) }, Array.from({ length: 1_500_000 }, () => 1)]) {
    expect(textOf(value) === JSON.stringify(value)).toBe(true);
  }
});

it('the record of a call has the text, which can be written; a text that only looks so changes nothing', async () => {
  const list = sparse(2 ** 32 - 1);
  expect(success(await bench([entry('t', { execute: async () => list })]).one('t')).output).toBe(ABRIDGED);
  const look = { '[Sparse list]': 3 };
  expect(success(await bench([entry('t', { execute: async () => look })]).one('t')).output).toBe(look);
});

it('a list among thousands of fields counts, one that is only inherited does not', () => {
  const fields = Object.fromEntries<unknown>(Array.from({ length: 20_000 }, (_, at) => [`field ${at}`, at]));
  expect(textOf({ ...fields, list: sparse(2 ** 32 - 1) }).endsWith(`,"list":${ABRIDGED}}`)).toBe(true);
  expect(textOf(Object.assign(Object.create({ list: sparse(2 ** 32 - 1) }), { a: 1 }))).toBe('{"a":1}');
});
