// Large values of code mode travel in pieces, so that they do not stop the event loop: they arrive whole.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runBridgedSource } from 'ferrule/sandbox';
import { native } from '../../js/binding.js';
import { readPieces, writePlain, writeSmall } from '../../js/sandbox/bridged/pieces.js';
import { atOnce, inSlices } from '../../js/sandbox/bridged/slices.js';
import { readTable } from '../../js/sandbox/bridged/table.js';
import { writeTable } from '../../js/sandbox/bridged/table-writer.js';
import { Format, decode } from '../../js/sandbox/bridged/values.js';

const records = (count: number, more: (id: number) => object = () => ({})) => Array.from({ length: count }, (_, id) => ({ id, name: `record "${id}" é`, price: id / 4, tags: ['a', null], open: id % 2 === 0, ...more(id) }));

const run = async (source: string, dispatch: (args: unknown) => unknown = (args) => args, options: Record<string, unknown> = {}): Promise<unknown> => {
  const result = await runBridgedSource({ source, allowedTools: ['tool'], dispatch: async ({ args }) => dispatch(args), timeoutMs: 60_000, ...options });
  if (!result.ok) throw new Error(result.error.message);
  return result.output;
};

/** Does the work and counts its pauses. */
function counted<T>(steps: Generator<void, T, void>): { value: T; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = steps.next();
    if (done === true) return { value, pauses };
  }
}

const text = (pieces: Buffer[] | undefined): string => Buffer.concat(pieces ?? []).toString();

describe('large values', () => {
  it('10,000 records of 5 fields come out of a script', { timeout: 90_000 }, async () => {
    const made = await run('return Array.from({ length: 10000 }, (_, id) => ({ id, name: `record "${id}" é`, price: id / 4, tags: ["a", null], open: id % 2 === 0 }))', undefined, { maxParts: 300_000 });
    expect(made).toEqual(records(10_000));
  });

  it('10,000 records of 5 fields go into a script and come back as arguments', { timeout: 90_000 }, async () => {
    const given = Array.from({ length: 10_000 }, (_, id) => ({ id, name: `name ${id}`, price: id / 4, note: null, open: true }));
    let taken: unknown;
    const tool = (args: unknown) => (args === 'give' ? given : void (taken = args));
    expect(await run('const all = await tools.tool("give"); await tools.tool({ all: all.slice(0, 7000) }); return [all.length, all[9999].name]', tool)).toEqual([10_000, 'name 9999']);
    expect(taken).toEqual({ all: given.slice(0, 7000) });
  });

  it('what JSON cannot say goes both ways', { timeout: 90_000 }, async () => {
    const given = new Map(records(2000, (id) => ({ at: new Date(id), none: undefined })).map((record) => [record.id, record]));
    expect(await run('return await tools.tool()', () => given)).toEqual(given);
  });

  it('calls are dispatched in their order, however large', { timeout: 90_000 }, async () => {
    const seen: unknown[] = [];
    await run('await Promise.all([tools.tool(["x".repeat(200000)]), tools.tool([1]), tools.tool(Array(20000).fill(2)), tools.tool([3])])', (args) => void seen.push((args as unknown[])[0]));
    expect(seen.map((first) => (typeof first === 'string' ? 'long' : first))).toEqual(['long', 1, 2, 3]);
  });

  it('a call nobody awaits is carried out before a result that follows it', { timeout: 90_000 }, async () => {
    const seen: number[] = [];
    await run('tools.tool(Array(40000).fill(0)); tools.tool([1]); return Array(40000).fill(2)', (args) => void seen.push((args as unknown[]).length));
    expect(seen).toEqual([40_000, 1]);
  });

  it('over the limit of parts is an error, and the limit an option', { timeout: 90_000 }, async () => {
    await expect(run('return Array(1000).fill([])', undefined, { maxParts: 500 })).rejects.toThrow('too many parts');
    await expect(run('return tools.tool(Array(1000).fill(0))', undefined, { maxParts: 500 })).rejects.toThrow('too many parts');
    await expect(run('return Array.from({ length: 60000 }, () => ({}))')).resolves.toHaveLength(60_000);
    await expect(run('return Array(250000).fill(0)')).rejects.toThrow('too many parts');
    await expect(run('return Array(250000).fill(0)', undefined, { maxParts: 300_000 })).resolves.toHaveLength(250_000);
  });

  it('calls that wait leave the event loop its turns', { timeout: 90_000 }, async () => {
    const seen: number[] = [];
    let turns = 0;
    let counting = true;
    const turn = (): void => void (counting && (turns += 1) && setImmediate(turn));
    await run('await Promise.all(Array.from({ length: 2000 }, (_, i) => tools.tool(i)))', (args) => {
      if (args === 0) setImmediate(turn);
      if (args === 1999) counting = false;
      seen.push(args as number);
    }, { maxToolCalls: 2000, maxCallsInFlight: 1 });
    expect(seen).toEqual(Array.from({ length: 2000 }, (_, i) => i));
    expect(turns).toBeGreaterThan(20);
  });

  it('an abort while a result is read ends the run', { timeout: 90_000 }, async () => {
    const controller = new AbortController();
    const result = runBridgedSource({
      source: 'await tools.tool(1); return Array(190000).fill(0)',
      allowedTools: ['tool'],
      dispatch: async () => void setTimeout(() => controller.abort(), 1),
      signal: controller.signal,
    });
    expect(await result).toMatchObject({ ok: false, error: { kind: 'aborted' } });
  });
});

describe('writing in pieces', () => {
  it('a small value is one piece, made at once', () => {
    for (const value of ['text', 5, null, { a: [1, { b: 'c' }] }, records(20)]) {
      expect(writeSmall(value, Infinity)).toBe(JSON.stringify(value));
      expect(atOnce(writePlain(value, Infinity))).toEqual([Buffer.from(JSON.stringify(value))]);
      expect(decode(Format.json, Buffer.from(JSON.stringify(value)), 1000, () => true)).toEqual(value);
    }
  });

  it('a large value is many, with pauses', () => {
    const { value, pauses } = counted(writePlain(records(5000), Infinity));
    expect(JSON.parse(text(value))).toEqual(records(5000));
    expect(pauses).toBeGreaterThan(5);
    const wide = new Map<number, unknown>(records(3000).map((record) => [record.id, [record, undefined]]));
    const table = counted(writeTable(wide, Infinity));
    expect(table.pauses).toBeGreaterThan(5);
    const read = counted(readTable(JSON.parse(text(table.value))));
    expect(read.value).toEqual(wide);
    expect(read.pauses).toBeGreaterThan(5);
  });

  it('any value is written as JSON.stringify does', () => {
    const many = fc.integer({ min: 0, max: 6000 }).map((length) => Array.from({ length }, (_, i) => i));
    const long = fc.integer({ min: 1000, max: 50_000 }).map((length) => 'x"é'.repeat(length));
    const part = fc.oneof(fc.jsonValue({ maxDepth: 4 }), many, long);
    const nested = fc.tuple(part, part, part).map(([a, b, c]) => ({ a, __proto__: null, inner: [b, { 7: c, ['__proto__']: [a] }], b }));
    fc.assert(fc.property(fc.array(fc.oneof(part, nested), { maxLength: 6 }), (made) => {
      // Sharing is the table's.
      const own: unknown = JSON.parse(JSON.stringify(made));
      expect(text(atOnce(writePlain(own, Infinity)))).toBe(JSON.stringify(own));
    }), { numRuns: 60 });
  });

  it('long texts and long lists', () => {
    // The cut falls into a pair.
    const long = `x${'\u{1F600}"\n'.repeat(200_000)}\ud800`;
    for (const value of [long, { a: 1, long, b: [long, 2, { c: long }] }, [[long]], 'x'.repeat(600_000)]) {
      const { value: pieces, pauses } = counted(writePlain(value, Infinity));
      expect(JSON.parse(text(pieces)) as unknown).toEqual(value);
      expect(pauses).toBeGreaterThan(2);
    }
    expect(() => atOnce(writePlain({ long }, 500_000))).toThrow('larger than 500000 bytes');
    const list = Array.from({ length: 60_000 }, (_, i) => (i % 1000 === 0 ? undefined : i));
    const holes = [...list];
    delete holes[59_000];
    for (const value of [list, holes]) expect(Object.keys(atOnce(readTable(JSON.parse(text(atOnce(writeTable(value, Infinity)))))) as object)).toEqual(Object.keys(value));
  });

  it('is well formed whatever happens to the value between the pieces', () => {
    const value: Record<string, unknown> = { list: Array.from({ length: 20_000 }, (_, i) => i), after: { x: 1 } };
    const steps = writePlain(value, Infinity);
    steps.next();
    steps.next();
    (value['list'] as unknown[]).fill(undefined, 12_000);
    delete value['after'];
    value['more'] = 1n;
    // What JSON can no longer say is left to the table.
    expect(atOnce(steps)).toBeUndefined();
    const other: unknown[] = Array.from({ length: 20_000 }, () => ({}));
    const again = writePlain(other, Infinity);
    for (let at = 0; ; at++) {
      const step = again.next();
      if (step.done === true) {
        expect(at).toBeGreaterThan(3);
        expect(JSON.parse(text(step.value))).toHaveLength(20_000);
        break;
      }
      for (let i = at; i < other.length; i += 7) other[i] = [{ changed: at }, 'text'];
    }
  });

  it('size and depth are limited', () => {
    expect(() => atOnce(writePlain(records(5000), 100_000))).toThrow('larger than 100000 bytes');
    expect(() => atOnce(writeTable(records(5000), 100_000))).toThrow('larger than 100000 bytes');
    let deep: unknown = Array.from({ length: 10_000 }, () => 0);
    for (let i = 0; i < 2000; i++) deep = [deep];
    expect(() => atOnce(writePlain(deep, Infinity))).toThrow('deeper than 1000');
  });
});

describe('reading in pieces', () => {
  const read = (json: string, piece: number): unknown => atOnce(readPieces(Buffer.from(json), native().sandboxCut(Buffer.from(json), 1000, 1e6, piece)));

  it('any JSON text gives what JSON.parse gives', () => {
    fc.assert(fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 1, max: 30 }), fc.constantFrom(undefined, 1), (json, piece, space) => {
      const spaced = JSON.stringify(JSON.parse(json), undefined, space);
      expect(read(spaced, piece)).toEqual(JSON.parse(spaced));
    }), { numRuns: 300 });
  });

  it('keys are data', () => {
    const json = '{"__proto__":{"a":[1,2,3,4]},"b":1,"__proto__":{"polluted":[1,2,3,{}]},"2":0,"1":{"toString":null}}';
    const made = read(json, 1) as object;
    expect(Object.keys(made)).toEqual(Object.keys(JSON.parse(json) as object));
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
    expect(JSON.stringify(made)).toBe(JSON.stringify(JSON.parse(json)));
  });
});

describe('slices', () => {
  it('work nobody waits for any more is dropped, and the rest goes on', async () => {
    const log: string[] = [];
    function* steps(name: string): Generator<void, string, void> {
      for (let i = 0; i < 3; i++) yield void log.push(name);
      return name;
    }
    void inSlices(steps('dropped'), () => false);
    expect(await inSlices(steps('kept'), () => true)).toBe('kept');
    expect(log).toEqual(['dropped', 'kept', 'dropped', 'kept', 'kept']);
    function* failing(): Generator<void, void, void> {
      yield;
      throw new Error('broken');
    }
    await expect(inSlices(failing(), () => true)).rejects.toThrow('broken');
    expect(await inSlices(steps('after'), () => true)).toBe('after');
  });
});
