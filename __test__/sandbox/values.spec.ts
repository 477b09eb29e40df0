// Values across the border of code mode (spec 03 section 7.2): structured clone in both directions.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runBridgedSource } from 'ferrule/sandbox';
import { makeCodec } from '../../js/sandbox/docker/codec.js';
import { atOnce } from '../../js/sandbox/bridged/slices.js';
import { readTable } from '../../js/sandbox/bridged/table.js';
import { writeTable } from '../../js/sandbox/bridged/table-writer.js';

const decodeTable = (table: unknown): unknown => atOnce(readTable(table));
const encodeTable = (value: unknown): unknown => JSON.parse(Buffer.concat(atOnce(writeTable(value, Infinity))).toString());

/** What comes back when the host hands a value to the script and the script hands it back. */
async function through(value: unknown): Promise<unknown> {
  const seen: unknown[] = [];
  const result = await runBridgedSource({
    source: 'const got = await tools.give(); await tools.take(got); return got',
    allowedTools: ['give', 'take'],
    dispatch: async (call) => (call.name === 'give' ? value : void seen.push(call.args)),
  });
  if (!result.ok) throw new Error(result.error.message);
  expect(seen[0]).toEqual(result.output);
  return result.output;
}

const cycle: Record<string, unknown> = { name: 'loop' };
cycle['self'] = cycle;
const shared = { x: 1 };
const holes = [1, 2, 3];
delete holes[1];

describe('both directions', () => {
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['numbers', [0, -0, 1.5, NaN, Infinity, -Infinity, 2 ** 53, 1e21, 5e-324]],
    ['order of keys', { b: 1, a: 2, 10: 3, 2: 4 }],
    ['__proto__ as data', JSON.parse('{"__proto__":{"x":1},"y":2}')],
    ['lone surrogates', ['\ud800', 'a\udc00b', '\u2028', '\0']],
    ['undefined inside', { a: undefined, b: [undefined] }],
    ['Map and Set', new Map<unknown, unknown>([['k', new Set([1, 'x'])], [{ o: 1 }, [2]]])],
    ['Date', [new Date(0), new Date(NaN)]],
    ['RegExp', /a(b)?\/c/giu],
    ['BigInt', [10n, -(2n ** 80n)]],
    ['typed arrays', [new Uint8Array([1, 2, 255]), new Float64Array([1.5]), new BigInt64Array([-1n]), new ArrayBuffer(3), new DataView(new ArrayBuffer(2))]],
    ['boxed primitives', [Object(1), Object('s'), Object(false)]],
    ['holes', holes],
    ['a match result', 'xay'.match(/a/)],
    ['a cycle', cycle],
  ])('%s', async (_, value) => {
    expect(await through(value)).toEqual(value);
  });

  it('identity inside a value survives, prototypes do not', async () => {
    const [a, b] = (await through([shared, shared])) as [object, object];
    expect(a).toBe(b);
    class Point {
      constructor(readonly x: number) {}
    }
    const back = (await through(new Point(1))) as object;
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect(back).toEqual({ x: 1 });
    const pooled = (await through(Buffer.from('abc'))) as Uint8Array;
    expect([pooled.constructor, pooled.buffer.byteLength, [...pooled]]).toEqual([Uint8Array, 3, [97, 98, 99]]);
  });

  it('bytes up to the limits, in time that grows with their number only', async () => {
    const given = new Uint8Array(3_000_000).map((_, at) => at * 7);
    const result = await runBridgedSource({
      source: `
        const got = await tools.give();
        let sum = 0;
        for (let at = 0; at < got.length; at += 99_991) sum += got[at];
        return { sum, bytes: got.slice(1), text: atob(btoa('é'.repeat(200_000))).length };`,
      allowedTools: ['give'],
      dispatch: async () => given,
    });
    if (!result.ok) throw new Error(result.error.message);
    const { sum, bytes, text } = result.output as { sum: number; bytes: Uint8Array; text: number };
    expect(sum).toBe(given.filter((_, at) => at % 99_991 === 0).reduce((all, byte) => all + byte, 0));
    expect(Buffer.compare(bytes, given.subarray(1))).toBe(0);
    expect(text).toBe(200_000);
  });

  it('bytes and long numbers are written a stretch at a time', { timeout: 60_000 }, () => {
    const bytes = new Uint8Array(1_000_001).map((_, at) => at * 31);
    const long = Array.from({ length: 20 }, (_, at) => 10n ** BigInt(5_000 + at));
    for (const [value, least] of [[bytes, 5], [bytes.buffer, 5], [bytes.subarray(1), 5], [new DataView(bytes.buffer, 3), 5], [long, 20]] as const) {
      const steps = writeTable(value, Infinity);
      let turns = 0;
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) turns += 1;
      expect(turns).toBeGreaterThanOrEqual(least);
      expect(Math.max(...step.value.map((piece) => piece.length))).toBeLessThan(400_000);
      expect(decodeTable(JSON.parse(Buffer.concat(step.value).toString()))).toEqual(value);
    }
    expect(() => atOnce(writeTable(bytes, 1_000_000))).toThrow('larger than');
  });

  it('errors keep class, message and cause', async () => {
    const back = (await through(new RangeError('far', { cause: new Error('deep') }))) as RangeError;
    expect(back).toBeInstanceOf(RangeError);
    expect([back.message, (back.cause as Error).message]).toEqual(['far', 'deep']);
  });

  it.each<[string, unknown]>([['a function', () => 1], ['a symbol', { a: Symbol('s') }], ['a promise', [Promise.resolve(1)]], ['a weak map', new WeakMap()]])(
    'a result with %s is refused with the path',
    async (_, value) => {
      await expect(through(value)).rejects.toThrow(/tool result is not serialisable: .*could not be cloned \(at \$/);
    },
  );

  it.each<[string, unknown]>([
    ['a URL', { link: new URL('http://a/b') }],
    ['URLSearchParams', new URLSearchParams('a=1')],
    ['Headers', [new Headers({ a: 'b' })]],
    ['a Response', new Response('x')],
    ['a Blob', new Blob(['x'])],
    ['an iterator', { rows: [1].values() }],
    ['a formatter', new Intl.NumberFormat('en')],
  ])('%s, whose data no key leads to, is refused, not emptied', async (_, value) => {
    const path = /could not be cloned \(at \$/;
    await expect(through(value)).rejects.toThrow(path);
    expect(() => makeCodec().encode(value)).toThrow('could not be cloned: it is a');
  });

  it('what has nothing to lose is an empty object, as structured clone has it', async () => {
    expect(await through([new (class {})(), Object.create(null), new AbortController(), {}])).toEqual([{}, {}, {}, {}]);
  });

  it.each(['new URL("http://a/b")', '{ link: new URL("http://a/b") }', '[new URLSearchParams("a=1")]', 'globalThis'])(
    'of a script, %s is refused both ways, not emptied',
    async (value) => {
      const back = await runBridgedSource({ source: `return (${value})`, allowedTools: [], dispatch: async () => 1 });
      expect(back).toMatchObject({ ok: false, error: { kind: 'execution-failed', message: expect.stringContaining('could not be cloned (at $') } });
      const given = await runBridgedSource({ source: `await tools.t(${value})`, allowedTools: ['t'], dispatch: async () => 1 });
      expect(given).toMatchObject({ ok: false, error: { message: expect.stringMatching(/^tool arguments are not serialisable: .*could not be cloned/) } });
    },
  );

  it('P39: nesting up to 1000 levels passes, deeper is an error', async () => {
    const nest = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    for (const levels of [127, 129, 1000]) expect(JSON.stringify(await through(nest(levels)))).toHaveLength(levels * 2);
    await expect(through(nest(5000))).rejects.toThrow('nested deeper than 1000 levels');
    const made = await runBridgedSource({ source: 'let a = []; for (let i = 0; i < 5000; i++) a = [a]; return a', allowedTools: [], dispatch: async () => 1 });
    expect(made).toMatchObject({ ok: false, error: { kind: 'execution-failed', message: expect.stringContaining('nested deeper') } });
  });

  it('any JSON value comes back as it was', { timeout: 60_000 }, async () => {
    await fc.assert(fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), fc.string({ unit: 'binary' }), async (value, text) => {
      expect(await through([value, text])).toEqual([value, text]);
    }), { numRuns: 40 });
  });
});

describe('tables from a hostile script', () => {
  it.each<[string, unknown]>([
    ['no table', {}],
    ['a reference out of range', [[5], ['O']]],
    ['a reference to the root', [[0]]],
    ['an unknown kind', [[1], ['Q']]],
    ['an enormous length', [[1], ['L', 4e9]]],
    ['many large lengths', [[1], ['A', [2], [3]], ['L', 6e5], ['L', 6e5]]],
    ['a length that is no number', [[1], ['L', '5']]],
    ['a view beyond its buffer', [[1], ['V', 'Uint8Array', [2], 0, 100], ['B', 'AAAA']]],
    ['a view of no view type', [[1], ['V', 'constructor', 'AAAA', 0, 1]]],
    ['an error class by prototype', [[1], ['E', 'toString', 'x']]],
    ['a key that is no text', [[1], ['O', 5, 6]]],
    ['an invalid pattern', [[1], ['R', '(', '']]],
    ['endless digits', [['b', '9'.repeat(30_000)]]],
    ['a slot that is an object', [{}]],
  ])('%s is refused', (_, table) => {
    expect(() => decodeTable(table)).toThrow();
  });

  it('a short table that stands for an endless text is refused', () => {
    const bomb: unknown[] = [[1]];
    for (let level = 1; level <= 40; level++) bomb.push(['A', [level + 1], [level + 1]]);
    bomb.push(['A']);
    expect(() => decodeTable(bomb)).toThrow('too often');
  });

  it('random tables never do harm', () => {
    const slot = fc.oneof(fc.constant(null), fc.string(), fc.integer(), fc.tuple(fc.integer({ min: -1, max: 6 })), fc.tuple(fc.constantFrom('u', 'n', 'b', 'z')));
    const node = fc.array(fc.oneof(slot, fc.constantFrom('O', 'A', 'L', 'M', 'S', 'E', 'V', 'B', 'D', 'R', 'W', 'Uint8Array', 'Error')), { maxLength: 6 });
    fc.assert(fc.property(slot, fc.array(node, { maxLength: 6 }), (root, nodes) => {
      try {
        decodeTable([root, ...nodes]);
      } catch (error) {
        expect((error as Error).constructor.name).toBe('MalformedValue');
      }
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    }), { numRuns: 500 });
  });

  it('the host end of the codec undoes itself', () => {
    for (const value of [cycle, [shared, shared], new Map([[1, holes]]), [undefined, -0, 5n]]) expect(decodeTable(encodeTable(value))).toEqual(value);
  });
});
