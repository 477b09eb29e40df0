/** The text form of plain values is JSON's, byte for byte, whoever writes it (spec 03 section 1). */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toResultEnvelope } from 'ferrule/result';

const textOf = (raw: unknown): string => toResultEnvelope({ raw }).textBody;

it('any JSON value', () => {
  const values = fc.oneof(fc.object({ maxDepth: 4, values: [fc.jsonValue(), fc.double(), fc.constant(undefined), fc.string({ unit: 'binary' })] }), fc.jsonValue({ stringUnit: 'binary' }));
  fc.assert(
    fc.property(values, (value) => {
      if (typeof value === 'object' && value !== null) expect(textOf({ value })).toBe(JSON.stringify({ value }));
    }),
    { numRuns: 500 },
  );
});

const longKey = 'k'.repeat(200);
const nested = (depth: number): unknown => Array.from({ length: depth }).reduce((inner) => [inner], 1);

it.each([
  ['no fields', {}],
  ['no elements', []],
  ['holes and undefined', [1, , undefined, 2]],
  ['fields left out', { a: undefined, b: () => 1, c: Symbol('s'), d: 1 }],
  ['functions in lists', [() => 1, Symbol('s')]],
  ['numbers', [0, -0, 1e21, 1e-7, 0.1, NaN, Infinity, -Infinity, 2 ** 53, 123456789.125]],
  ['what has to be escaped', ['"', '\\', '\u0000', '\n', '\u007f', '\u2028', '\ud800', '😀', '\udc00\ud800']],
  ['keys that have to be escaped', { '"': 1, '\n': 2, '\ud800': 3, é: 4, [longKey]: 5 }],
  ['numbered keys', { b: 1, 2: 2, 1: 3, a: 4 }],
  ['a key named __proto__', JSON.parse('{"__proto__":1,"a":2}')],
  ['a field that hides itself', Object.defineProperty({ a: 1 }, 'b', { value: 2, enumerable: false })],
  ['a hidden toJSON', Object.defineProperty({ a: 1 }, 'toJSON', { value: () => 'mine' })],
  ['a toJSON that is no function', { toJSON: 1 }],
  ['an inner toJSON', { a: { toJSON: (key: string) => `at ${key}` } }],
  ['a date', { at: new Date(0) }],
  ['own keys of a list', Object.assign([1], { extra: 2 })],
  ['no prototype', Object.assign(Object.create(null), { a: 1 })],
  ['inherited fields', Object.assign(Object.create({ inherited: 1 }), { a: 1 })],
  ['an instance', new (class Point { x = 1; get y() { return 2; } })()],
  ['a list of a subclass', (class List extends Array<unknown> {}).of(1, 2)],
  ['a list that calls itself an object', Object.setPrototypeOf([1, 2], Object.prototype)],
  ['an object that calls itself a list', Object.assign(Object.create(Array.prototype), { a: 1 })],
  ['a getter', { get a() { return 'got'; } }],
  ['boxed values', { n: Object(1), s: Object('s'), b: Object(true) }],
  ['many fields', Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`f${at}`, at]))],
  ['many elements', Array.from({ length: 1_000 }, (_, at) => at)],
  ['a long text', { text: 'x'.repeat(5_000) }],
  ['forty levels', nested(40)],
  ['a proxy', new Proxy({ a: 1, b: [2] }, {})],
])('%s', (_, value) => {
  expect(textOf(value)).toBe(JSON.stringify(value));
});

it('what somebody added to all objects is nobody’s own', () => {
  const everybody = Object.prototype as unknown as Record<string, unknown>;
  try {
    everybody['added'] = 1;
    expect(textOf({ a: { b: 1 } })).toBe('{"a":{"b":1}}');
    delete everybody['added'];
    Object.defineProperty(everybody, 'toJSON', { value: () => 'all', configurable: true });
    expect(textOf({ a: 1 })).toBe('"all"');
  } finally {
    delete everybody['added'];
    delete everybody['toJSON'];
  }
});

it('a cycle and what JSON cannot say keep their forms', () => {
  const cycle: Record<string, unknown> = { a: 1 };
  cycle['self'] = [cycle];
  expect(textOf(cycle)).toBe('{"a":1,"self":["[Circular]"]}');
  expect(textOf({ m: new Map([['k', 1]]), n: 10n })).toBe('{"m":{"k":1},"n":"10"}');
});
