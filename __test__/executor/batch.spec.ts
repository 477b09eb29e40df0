/** Batches (spec 02 sections 5, 6.1, 9) and P27. */
import { describe, expect, it, vi } from 'vitest';
import { createToolExecutor } from 'ferrule/executor';
import { bench, call, countedSignal, deferred, entry, failure, registryOf, run, sleep, success, type Loose } from './kit.js';

const timed = (name: string, fields: Loose = {}) => entry(name, { execute: async ({ ms }: { ms: number }) => { await sleep(ms); return ms; }, ...fields });

describe('5 the executor', () => {
  it('has exactly two own methods, is not frozen, works detached, with surplus arguments', async () => {
    const b = bench([entry('t')]);
    expect(Object.keys(b.executor)).toEqual(['executeBatch', 'executeOne']);
    expect(Object.isFrozen(b.executor)).toBe(false);
    const { executeOne, executeBatch } = b.executor;
    const opts = { call: call('t'), calls: [call('t')], runContext: b.runContext, stepNumber: 1 };
    success(await (executeOne as (...args: unknown[]) => ReturnType<typeof executeOne>)(opts, 1, 2));
    expect(await (executeBatch as (...args: unknown[]) => ReturnType<typeof executeBatch>)(opts, 1)).toHaveLength(1);
  });

  it('6.1 records: three keys, frozen with copies of call and outcome; the rest keeps identity and mutability', async () => {
    const output = { list: [1] };
    const part = { type: 'image', image: new Uint8Array([1]) };
    const b = bench([entry('t', { execute: async () => ({ output, contentParts: [part] }) })]);
    const args = { a: 1 };
    const wire = { toolCallId: 'c', toolName: 't', args, extra: 'kept' };
    const [record] = await b.batch([wire]);
    expect(Object.keys(record!)).toEqual(['call', 'outcome', 'stepNumber']);
    expect(record!.stepNumber).toBe(3);
    expect([record, record!.call, record!.outcome].every(Object.isFrozen)).toBe(true);
    expect(record!.call).toEqual(wire);
    expect(record!.call).not.toBe(wire);
    expect(record!.call.args).toBe(args);
    expect(Object.isFrozen(args) || Object.isFrozen(wire)).toBe(false);
    const { output: given, contentParts } = success(record!);
    expect(given).toBe(output);
    expect(contentParts![0]).toBe(part);
    expect(Object.isFrozen(given) || Object.isFrozen(contentParts)).toBe(false);
    expect(Object.keys(record!.outcome)).toEqual(['toolCallId', 'toolName', 'output', 'contentParts', 'durationMs']);
  });

  it('an empty batch and any iterable', async () => {
    const b = bench([entry('t')]);
    const empty = await b.batch([]);
    expect(empty).toEqual([]);
    expect(Object.isFrozen(empty)).toBe(true);
    const calls = new Set([call('t'), call('t')]);
    const records = await b.executor.executeBatch({ calls, runContext: b.runContext, stepNumber: 1 });
    expect(records).toHaveLength(2);
    expect(Object.isFrozen(records)).toBe(true);
  });

  it('calls are copied at entry', async () => {
    const b = bench([timed('t')]);
    const calls = [call('t', { ms: 2 }), call('t', { ms: 1 })];
    const done = b.batch(calls);
    const list = b.executor.executeBatch({ calls, runContext: b.runContext, stepNumber: 1 });
    calls.length = 0;
    expect(await done).toHaveLength(2);
    expect(await list).toHaveLength(2);
  });
});

describe('9 scheduling', () => {
  it('9.5 order is kept under mixed durations, an unknown tool among good ones (P27)', async () => {
    const b = bench([timed('t'), entry('bad', { execute: async () => { throw new Error('x'); } })]);
    const records = await b.batch([call('t', { ms: 120 }), call('nope'), call('t', { ms: 1 }), call('bad'), call('t', { ms: 30 })]);
    expect(records.map(({ outcome }) => ('kind' in outcome ? outcome.kind : outcome.output))).toEqual([120, 'unknown_tool', 1, 'execution_failed', 30]);
    const ends = b.events.filter((event) => event.type === 'tool.execute.end').map((event) => ('result' in event ? event.result : 0));
    expect(ends).toEqual([1, 30, 120]);
    expect(b.events.every((event) => typeof event.toolCallId === 'string')).toBe(true);
  });

  it.each([[undefined, 30, 8], [3, 10, 3], [16, 100, 16], [1, 4, 1], [Number.POSITIVE_INFINITY, 40, 40]])('9.3 bound %s with %s calls: peak %s, first in first out', async (maxParallelTools, count, peak) => {
    let inFlight = 0;
    let highest = 0;
    const started: number[] = [];
    const b = bench([entry('t', { execute: async ({ at }: { at: number }) => {
      started.push(at);
      inFlight += 1;
      highest = Math.max(highest, inFlight);
      await sleep(at % 3);
      inFlight -= 1;
    } })], maxParallelTools === undefined ? {} : { maxParallelTools });
    const records = await b.batch(Array.from({ length: count }, (_, at) => call('t', { at })));
    expect(highest).toBe(peak);
    expect(started).toEqual(Array.from({ length: count }, (_, at) => at));
    expect(records).toHaveLength(count);
  });

  it('9.3 a rolling window, not waves', async () => {
    const order: string[] = [];
    const b = bench([entry('t', { execute: async ({ id, ms }: { id: string; ms: number }) => { order.push(`+${id}`); await sleep(ms); order.push(`-${id}`); } })], { maxParallelTools: 2 });
    await b.batch([call('t', { id: 'slow', ms: 30 }), call('t', { id: 'a', ms: 1 }), call('t', { id: 'b', ms: 1 })]);
    expect(order.indexOf('+b')).toBeLessThan(order.indexOf('-slow'));
  });

  it('9.1, 9.2 sequential calls first, one after another, wherever they stand; a failing one does not stop the next', async () => {
    const order: string[] = [];
    const log = (name: string, fail = false) => entry(name, { executionMode: name.startsWith('s') ? 'sequential' : 'parallel', execute: async () => {
      order.push(`+${name}`);
      await sleep(3);
      order.push(`-${name}`);
      if (fail) throw new Error('x');
    } });
    const b = bench([log('p1'), log('s1', true), log('p2'), log('s2')]);
    const records = await b.batch(['p1', 's2', 'p2', 's1', 's2']);
    expect(order.slice(0, 6)).toEqual(['+s2', '-s2', '+s1', '-s1', '+s2', '-s2']);
    expect(order.slice(6).sort()).toEqual(['+p1', '+p2', '-p1', '-p2']);
    expect(records.map(({ call: { toolName } }) => toolName)).toEqual(['p1', 's2', 'p2', 's1', 's2']);
  });

  it('9.1 only the exact value sequential counts, and side effects play no part', async () => {
    let inFlight = 0;
    let peak = 0;
    const b = bench([entry('t', { executionMode: 'Sequential', __sideEffectClass: 'external-stateful', execute: async () => {
      inFlight += 1;
      peak = Math.max(peak, inFlight);
      await sleep(2);
      inFlight -= 1;
    } })]);
    await b.batch(['t', 't', 't']);
    expect(peak).toBe(3);
  });

  it('5 the bound is per batch; two batches at once have one each', async () => {
    let inFlight = 0;
    let peak = 0;
    const b = bench([entry('t', { execute: async () => { inFlight += 1; peak = Math.max(peak, inFlight); await sleep(3); inFlight -= 1; } })], { maxParallelTools: 2 });
    await Promise.all([b.batch(['t', 't', 't', 't']), b.batch(['t', 't', 't', 't'])]);
    expect(peak).toBe(4);
  });

  it('issue 4: 100 calls of a batch wait for one another where the bound allows', async () => {
    const all = deferred();
    let waiting = 0;
    const b = bench([entry('t', { execute: async () => { waiting += 1; if (waiting === 50) all.resolve(); await all.promise; } })], { maxParallelTools: 50 });
    expect(await b.batch(Array.from({ length: 50 }, () => call('t')))).toHaveLength(50);
  });

  it.each([0, -1, Number.NaN, 0.5, '4' as never, Number.NEGATIVE_INFINITY])('issue 4: maxParallelTools %s is an error at creation', (maxParallelTools) => {
    expect(() => createToolExecutor({ registry: registryOf([]) as never, maxParallelTools })).toThrow(/maxParallelTools/);
  });

  it('issue 4, 9.7: duplicate ids get a record each, in order', async () => {
    const b = bench([timed('t')]);
    const records = await b.batch([call('t', { ms: 9 }, 'c1'), call('t', { ms: 1 }, 'c1'), call('t', { ms: 3 }, 'c2')]);
    expect(records.map((record) => [record.call.toolCallId, success(record).output])).toEqual([['c1', 9], ['c1', 1], ['c2', 3]]);
  });

  it('issue 4, 9.8: an abort in the middle stops what has not started; finished calls keep their results', async () => {
    const controller = new AbortController();
    const execute = vi.fn(async ({ ms }: { ms: number }, ctx: { signal: AbortSignal }) => {
      await Promise.race([sleep(ms), new Promise((_yes, no) => ctx.signal.addEventListener('abort', () => no(new Error('stop'))))]);
      return ms;
    });
    const b = bench([entry('t', { execute }), entry('s', { execute, executionMode: 'sequential' })], { maxParallelTools: 2 });
    setTimeout(() => controller.abort(), 20);
    const calls = [1, 500, 500, 500, 500].map((ms) => call('t', { ms }));
    const records = await b.batch(calls, { runContext: { ...b.runContext, signal: controller.signal } });
    expect(records.map(({ outcome }) => ('kind' in outcome ? outcome.kind : outcome.output))).toEqual([1, 'aborted', 'aborted', 'aborted', 'aborted']);
    expect(execute).toHaveBeenCalledTimes(3);
    // 7.12: one message for every cancelled call; the hint says which ones had not started.
    expect(records.slice(1).map((record) => failure(record).message)).toEqual(Array(4).fill('Tool execution cancelled'));
    expect(failure(records[4]!).hint).toBe('the run was aborted before this call started');
    const rows = b.rows.filter((row) => row.action === 'tool:execute:error');
    expect(rows).toHaveLength(4);
    expect(rows.every((row) => (row.metadata as Loose)['kind'] === 'aborted' && (row.metadata as Loose)['reason'] === 'cancelled')).toBe(true);

    execute.mockClear();
    const second = new AbortController();
    setTimeout(() => second.abort(), 10);
    const sequential = await b.batch([call('s', { ms: 500 }), call('s', { ms: 500 }), call('t', { ms: 1 })], { runContext: { ...b.runContext, signal: second.signal } });
    expect(sequential.map((record) => failure(record).kind)).toEqual(['aborted', 'aborted', 'aborted']);
    expect(execute).toHaveBeenCalledTimes(1);
  });

  it('9.8 with many queued calls the abort costs one grace, not one a round', async () => {
    const controller = new AbortController();
    const b = bench([entry('t', { execute: () => new Promise(() => {}) })], { maxParallelTools: 2, cancellationGraceMs: 30 });
    setTimeout(() => controller.abort(), 5);
    const started = performance.now();
    await b.batch(Array.from({ length: 60 }, () => call('t')), { runContext: { ...b.runContext, signal: controller.signal } });
    expect(performance.now() - started).toBeLessThan(500);
  });

  it('9.6 a tracer that throws for one id keeps length and order, in both modes', async () => {
    for (const executionMode of ['parallel', 'sequential']) {
      for (const wrap of [(error: Error) => { throw error; }, (error: Error) => Promise.reject(error)]) {
        const b = bench([entry('t', { executionMode })]);
        const tracer = {
          ...b.tracer,
          startSpan: b.tracer.startSpan,
          span(options: Loose, fn: never): unknown {
            if ((options['attrs'] as Loose)['graphorin.tool.call_id'] === 'b') return wrap(new Error('tracer down'));
            return b.tracer.span(options, fn);
          },
        };
        const records = await b.batch([call('t', {}, 'a'), call('t', {}, 'b'), call('t', {}, 'c')], { runContext: { ...b.runContext, tracer } });
        expect(records.map((record) => record.call.toolCallId)).toEqual(['a', 'b', 'c']);
        success(records[0]!);
        expect(failure(records[1]!)).toMatchObject({
          kind: 'execution_failed', message: 'tool execution rejected outside the executor pipeline: tracer down',
          recoverable: false, recoveryHint: 'try_alternative',
        });
        expect('cause' in records[1]!.outcome).toBe(false);
        success(records[2]!);
      }
    }
  });

  it('9.6 executeOne rejects with the original value; a registry that throws rejects the whole batch', async () => {
    const error = new Error('tracer down');
    const b = bench([entry('t')]);
    await expect(b.one('t', {}, { runContext: run({ tracer: { span() { throw error; } } }) })).rejects.toBe(error);
    const lost = new Error('registry down');
    const executor = createToolExecutor({ registry: { get() { throw lost; } } as never });
    await expect(executor.executeBatch({ calls: [call('t')], runContext: run(), stepNumber: 1 })).rejects.toBe(lost);
    await expect(executor.executeOne({ call: call('t'), runContext: run(), stepNumber: 1 })).rejects.toBe(lost);
  });

  it('9.3 without sequential calls the first window is validated before executeBatch returns', () => {
    const parsed: unknown[] = [];
    const inputSchema = { parse: (x: unknown) => x, safeParse: (data: unknown) => { parsed.push(data); return { success: true, data }; } };
    const b = bench([entry('t', { inputSchema })], { maxParallelTools: 3 });
    const done = b.batch([0, 1, 2, 3, 4].map((at) => call('t', at)));
    expect(parsed).toEqual([0, 1, 2]);
    return done;
  });

  it('13.4 a batch with every kind of ending leaves no listener', async () => {
    const { signal, listeners } = countedSignal();
    const b = bench([
      timed('t'), entry('bad', { execute: async () => { throw new Error('x'); } }), entry('slow', { execute: () => new Promise(() => {}) }),
      entry('predicate', { needsApproval: () => { throw new Error('x'); } }), entry('flag', { outputSchema: { safeParse: () => { throw new Error('x'); } } }),
    ], { inlineToolTimeoutMs: 10 });
    await b.batch([call('t', { ms: 1 }), 'bad', 'slow', 'predicate', 'flag', 'nope'], { runContext: { ...b.runContext, signal } });
    expect(listeners()).toBe(0);
  });
});
