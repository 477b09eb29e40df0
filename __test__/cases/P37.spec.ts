import fc from 'fast-check';
import { toResultEnvelope } from 'ferrule/result';
import { describe, expect, it } from 'vitest';

const text = (raw: unknown): string => toResultEnvelope<unknown>({ raw }).textBody;

describe('P37: values JSON cannot say', () => {
  it('the case itself', () => {
    const value: Record<string | symbol, unknown> = {
      n: 10n,
      m: new Map([['k', 1]]),
      s: new Set([1]),
      d: new Date(0),
      u: new Uint8Array([1, 2]),
      e: new Error('x'),
      f() {},
      [Symbol('s')]: 1,
    };
    value['self'] = value;
    expect(text(value)).toBe(
      '{"n":"10","m":{"k":1},"s":[1],"d":"1970-01-01T00:00:00.000Z","u":{"mediaType":"application/octet-stream","base64":"AQI="},"e":{"name":"Error","message":"x"},"self":"[Circular]"}',
    );
  });

  it.each<[string, unknown, string]>([
    ['BigInt', 10n, '10'],
    ['Map with other keys', new Map<unknown, unknown>([[1, 'a'], [{ b: 1 }, 2n]]), '[[1,"a"],[{"b":1},"2"]]'],
    ['empty Map and Set', [new Map(), new Set()], '[{},[]]'],
    ['Set of Maps', new Set([new Map([['a', new Set([1])]])]), '[{"a":[1]}]'],
    ['numbers', new Float64Array([1.5, 2]), '[1.5,2]'],
    ['big numbers', { a: new BigInt64Array([1n]) }, '{"a":["1"]}'],
    ['ArrayBuffer and DataView', [new ArrayBuffer(1), new DataView(new ArrayBuffer(1))].map((b) => b),
      '[{"mediaType":"application/octet-stream","base64":"AA=="},{"mediaType":"application/octet-stream","base64":"AA=="}]'],
    ['RegExp', { r: /a/g }, '{"r":"/a/g"}'],
    ['invalid Date', { d: new Date(Number.NaN), n: 1n }, '{"d":null,"n":"1"}'],
    ['Error with fields and cause', Object.assign(new TypeError('x', { cause: new Error('y') }), { code: 'E' }),
      '{"name":"TypeError","message":"x","code":"E","cause":{"name":"Error","message":"y"}}'],
    ['toJSON wins', { a: { toJSON: () => ({ b: 1n }) } }, '{"a":{"b":"1"}}'],
    ['functions and undefined in lists', [() => 1, undefined, 1n], '[null,null,"1"]'],
    ['shared, not cyclic', (() => { const x = { n: 1n }; return [x, x]; })(), '[{"n":"1"},{"n":"1"}]'],
    ['own __proto__ key', JSON.parse('{"__proto__":{"a":1},"b":[]}'), '{"__proto__":{"a":1},"b":[]}'],
  ])('%s', (_name, raw, expected) => {
    expect(text(raw)).toBe(expected);
  });

  it('very deep values end in a note instead of the process', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 200_000; i += 1) deep = [deep];
    expect(text(deep)).toContain('[Too deep]');
    let map: unknown = 1n;
    for (let i = 0; i < 2_000; i += 1) map = new Map([['a', map]]);
    expect(text(map)).toContain('[Too deep]');
  });

  it('a large value with lost parts shows them', () => {
    const large = { filler: 'x'.repeat(100_000), m: new Map([['k', 1]]), u: new Uint8Array([1]) };
    expect(text(large)).toContain('"m":{"k":1},"u":{"mediaType"');
  });

  it('plain JSON values are exactly what JSON.stringify says', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const expected = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
        expect(text({ value })).toBe(JSON.stringify({ value }));
        expect(text(value)).toBe(Object.is(value, -0) ? '0' : expected);
      }),
    );
  });

  it('anything at all has a text, without [object Object]', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withSparseArray: true,
      withBoxedValues: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        const said = text([value]);
        expect(() => JSON.parse(said)).not.toThrow();
        expect(said).not.toContain('[object Object]');
      }),
    );
  });
});
