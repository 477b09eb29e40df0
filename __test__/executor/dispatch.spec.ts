/** Dispatch, limits, cancellation, sandbox, memory guard (spec 02 sections 7.10 to 7.12, 12, 13). */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createToolExecutor, ToolRateLimitError } from 'ferrule/executor';
import { bench, call, counters, countedSignal, deferred, entry, failure, histogram, registryOf, sleep, success, type Loose } from './kit.js';

type Ctx = { signal: AbortSignal; streamContent(chunk: unknown): void };
const never = (): Promise<never> => new Promise(() => {});
const writer = { __sideEffectClass: 'side-effecting' };

describe('7.11 the inline path', () => {
  it('throw, reject and synchronous throw end alike, with the thrown value as the cause', async () => {
    const error = new TypeError('bad');
    for (const execute of [async () => { throw error; }, () => Promise.reject(error), () => { throw error; }]) {
      const b = bench([entry('t', { execute })]);
      const outcome = failure(await b.one('t'));
      expect(outcome).toMatchObject({ kind: 'execution_failed', message: 'bad' });
      expect(outcome.cause).toBe(error);
    }
  });

  it('22 row 7: an execute that returns no promise works; a thenable works', async () => {
    const plain = bench([entry('t', { execute: () => 'plain' })]);
    expect(success(await plain.one('t')).output).toBe('plain');
    const thenable = bench([entry('t', { execute: () => ({ then: (yes: (value: string) => void) => { yes('later'); yes('again'); } }) })]);
    expect(success(await thenable.one('t')).output).toBe('later');
    const hostile = bench([entry('t', { execute: () => ({ get then() { throw new Error('no then'); } }) })]);
    expect(failure(await hostile.one('t'))).toMatchObject({ kind: 'execution_failed', message: 'no then' });
  });

  it('the duration is fractional in the result and the histogram, and counts failures too', async () => {
    const b = bench([entry('t', { execute: () => sleep(12) }), entry('f', { execute: async () => { await sleep(5); throw new Error('x'); } })]);
    const { durationMs } = success(await b.one('t'));
    expect(durationMs).toBeGreaterThan(10);
    expect(Number.isInteger(durationMs)).toBe(false);
    expect(histogram('tool.executor.duration_ms{toolName=t}')).toEqual([durationMs]);
    await b.one('f');
    expect(histogram('tool.executor.duration_ms{toolName=f}')).toHaveLength(1);
    expect('durationMs' in (await b.one('f')).outcome).toBe(false);
  });

  it('the context is frozen and has exactly eight keys (2.9)', async () => {
    let ctx: Loose = {};
    const b = bench([entry('t', { execute: async (_: unknown, given: Loose) => { ctx = given; } })]);
    await b.one('t');
    expect(Object.keys(ctx)).toEqual(['toolCallId', 'runContext', 'signal', 'tracer', 'logger', 'secrets', 'reportProgress', 'streamContent']);
    expect(Object.isFrozen(ctx)).toBe(true);
    expect(Object.isFrozen(ctx['secrets'])).toBe(true);
    expect(ctx['runContext']).toBe(b.runContext);
    expect(ctx['tracer']).toBe(b.tracer);
    expect(ctx['signal']).not.toBe(b.runContext.signal);
  });

  it('2.9 the signal is one and the same, however the context is handed on', async () => {
    let ctx: Loose = {};
    const b = bench([entry('t', { execute: async (_: unknown, given: Loose) => { ctx = given; } })]);
    await b.one('t');
    const other = { require: () => {} };
    const views: Record<string, object> = {
      'a spread copy': { ...ctx },
      'Object.assign': Object.assign({}, ctx),
      'an heir': Object.create(ctx),
      'an heir with secrets of its own': Object.create(ctx, { secrets: { value: other } }),
      'a transparent proxy': new Proxy(ctx, {}),
      'a proxy that passes its receiver on': new Proxy(ctx, { get: (target, key, receiver) => Reflect.get(target, key, receiver) }),
      'a proxy that does not': new Proxy(ctx, { get: (target, key) => target[key as string] }),
      'a proxy around a proxy': new Proxy(new Proxy(ctx, {}), {}),
      'an heir of a proxy': Object.create(new Proxy(ctx, {}), { secrets: { value: other } }),
      'a proxy around an heir': new Proxy(Object.create(ctx, { secrets: { value: other } }), {}),
    };
    const { signal } = ctx;
    expect(signal).toBeInstanceOf(AbortSignal);
    for (const [name, view] of Object.entries(views)) expect((view as Loose)['signal'], name).toBe(signal);
    expect(() => Object.getOwnPropertyDescriptor(ctx, 'signal')!.get!.call({})).toThrow('ctx.signal');
    // Not the context of another call, whatever it shows as its secrets.
    await b.one('t');
    expect(ctx['signal']).not.toBe(signal);
  });

  it('13.4 a signal that is first read after the abort is an aborted one', async () => {
    const run = new AbortController();
    const seen: unknown[] = [];
    const b = bench([entry('t', { execute: async (_: unknown, ctx: Ctx) => {
      run.abort();
      await null;
      seen.push(ctx.signal.aborted, (ctx.signal.reason as Error).name);
      return 'late';
    } })]);
    await b.one('t', {}, { runContext: { ...b.runContext, signal: run.signal } });
    expect(seen).toEqual([true, 'AbortError']);
  });
});

describe('13.2 limits', () => {
  it('the tool hears of the expiry, the outcome stays timeout even when it rejects at once, others are unaffected', async () => {
    const order: string[] = [];
    const b = bench([
      entry('t', { execute: (_: unknown, ctx: Ctx) => new Promise((_yes, no) => ctx.signal.addEventListener('abort', () => {
        order.push('heard');
        no(new Error('cancelled by signal'));
      })) }),
      entry('ok', { execute: async () => { await sleep(25); return 'fine'; } }),
    ], { inlineToolTimeoutMs: 15 });
    const slow = bench([entry('ok', { execute: async () => { await sleep(25); return 'fine'; } })]);
    const [timed, other] = await Promise.all([b.one('t').then((record) => { order.push('settled'); return record; }), slow.one('ok')]);
    expect(failure(timed)).toMatchObject({ kind: 'timeout', message: 'Tool execution exceeded the 15ms wall-clock timeout.', recoverable: true });
    expect(order).toEqual(['heard', 'settled']);
    expect(success(other).output).toBe('fine');
    expect(b.runContext.signal.aborted).toBe(false);
  });

  it('in a batch only the slow call times out', async () => {
    const b = bench([entry('slow', { execute: never }), entry('fast')], { inlineToolTimeoutMs: 15 });
    const records = await b.batch(['slow', 'fast', 'slow', 'fast']);
    expect(records.map((record) => ('kind' in record.outcome ? record.outcome.kind : 'ok'))).toEqual(['timeout', 'ok', 'timeout', 'ok']);
  });

  it('a tool that says partial output first gets both hints joined', async () => {
    const b = bench([entry('t', { ...writer, streamingHint: true, execute: (_: unknown, ctx: Ctx) => {
      ctx.streamContent({ kind: 'text', text: 'half' });
      return never();
    } })], { inlineToolTimeoutMs: 10 });
    expect(failure(await b.one('t')).hint).toBe(
      'partial output captured in stream buffer; the first invocation may still have completed; do not retry blindly',
    );
  });

  it.each([0, Number.POSITIVE_INFINITY, Number.NaN, 2 ** 40])('issue 4: a limit of %s means none', async (inlineToolTimeoutMs) => {
    const b = bench([entry('t', { execute: async () => { await sleep(15); return 'done'; } })], { inlineToolTimeoutMs });
    expect(success(await b.one('t')).output).toBe('done');
  });

  describe('with fake timers', () => {
    afterEach(() => vi.useRealTimers());

    it.each([
      ['ordinary tools', {}, {}, 5_000],
      ['docker', { sandboxPolicy: 'docker' }, {}, 30_000],
      ['policy none', { sandboxPolicy: 'none' }, {}, 60_000],
      ['trust level built-in', {}, { trustLevel: 'built-in' }, 60_000],
      ['untrusted', { sandboxPolicy: 'none' }, { trustLevel: 'untrusted' }, 5_000],
    ] as const)('22 row 10, default for %s', async (_name, fields, batch, limit) => {
      vi.useFakeTimers();
      const b = bench([entry('t', { execute: never, ...fields })]);
      let done: unknown;
      void b.one('t', {}, batch).then((record) => { done = record; });
      await vi.advanceTimersByTimeAsync(limit - 1);
      expect(done).toBeUndefined();
      await vi.advanceTimersByTimeAsync(1);
      expect(failure(done as never)).toMatchObject({ kind: 'timeout', message: `Tool execution exceeded the ${limit}ms wall-clock timeout.` });
      await vi.advanceTimersByTimeAsync(1_000);
      expect(vi.getTimerCount()).toBe(0);
    });

    it('the option wins over the tier', async () => {
      vi.useFakeTimers();
      const b = bench([entry('t', { execute: never, sandboxPolicy: 'docker' })], { inlineToolTimeoutMs: 100 });
      const done = b.one('t');
      await vi.advanceTimersByTimeAsync(100);
      expect(failure(await done).kind).toBe('timeout');
    });
  });
});

describe('13.1 cancellation and grace', () => {
  it('a tool that rejects promptly ends the call at once, with its own error as the cause', async () => {
    const controller = new AbortController();
    const own = new Error('stopping');
    const b = bench([entry('t', { execute: (_: unknown, ctx: Ctx) => new Promise((_yes, no) => ctx.signal.addEventListener('abort', () => no(own))) })], { cancellationGraceMs: 5_000 });
    setTimeout(() => controller.abort(new Error('reason of the run')), 5);
    const started = performance.now();
    const outcome = failure(await b.one('t', {}, { runContext: { ...b.runContext, signal: controller.signal } }));
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(outcome).toMatchObject({ kind: 'aborted', message: 'Tool execution cancelled' });
    expect(outcome.cause).toBe(own);
  });

  it('a tool that ignores its signal is given up on after the grace; what it does later is dropped', async () => {
    const controller = new AbortController();
    const late = deferred();
    const b = bench([entry('t', { streamingHint: true, execute: async (_: unknown, ctx: Ctx) => {
      await late.promise;
      ctx.streamContent({ kind: 'text', text: 'late' });
      throw new Error('late throw');
    } })], { cancellationGraceMs: 20 });
    setTimeout(() => controller.abort(), 5);
    const outcome = failure(await b.one('t', {}, { runContext: { ...b.runContext, signal: controller.signal } }));
    expect(outcome).toMatchObject({ kind: 'aborted', message: 'Tool execution cancelled' });
    expect((outcome.cause as Error).message).toBe('aborted');
    const before = b.events.length;
    late.resolve();
    await sleep(5);
    expect(b.events.length).toBe(before);
  });

  it('22 row 8: a success within the grace is reported aborted and its result dropped', async () => {
    const controller = new AbortController();
    const b = bench([entry('t', { execute: async () => { await sleep(15); return 'finished'; } })], { cancellationGraceMs: 500 });
    setTimeout(() => controller.abort(), 3);
    const outcome = failure(await b.one('t', {}, { runContext: { ...b.runContext, signal: controller.signal } }));
    expect(outcome.kind).toBe('aborted');
    expect(outcome.message).toBe('Tool execution cancelled');
    expect((outcome.cause as Error).message).toBe('aborted');
  });

  it('7.10 the linked signal: aborted at once on an aborted run, with the default reason; execute still runs', async () => {
    const seen: unknown[] = [];
    const b = bench([entry('t', { execute: async (_: unknown, ctx: Ctx) => { seen.push(ctx.signal.aborted, ctx.signal.reason); return 1; } })]);
    const outcome = failure(await b.one('t', {}, { runContext: { ...b.runContext, signal: AbortSignal.abort(new Error('why')) } }));
    expect(outcome.kind).toBe('aborted');
    expect(seen[0]).toBe(true);
    expect((seen[1] as Error).name).toBe('AbortError');
    expect((seen[1] as Error).message).not.toContain('why');
  });

  it('7.12 a rate limit thrown after cancellation is aborted and keeps the pacing hint; a real abort beats the limit', async () => {
    const controller = new AbortController();
    const b = bench([entry('t', { execute: (_: unknown, ctx: Ctx) => new Promise((_yes, no) => ctx.signal.addEventListener('abort', () => no(new ToolRateLimitError('x', { retryAfterMs: 1500 })))) })]);
    setTimeout(() => controller.abort(), 3);
    expect(failure(await b.one('t', {}, { runContext: { ...b.runContext, signal: controller.signal } }))).toMatchObject({ kind: 'aborted', hint: 'retry after 1500ms' });

    const second = new AbortController();
    const racing = bench([entry('t', { execute: never })], { inlineToolTimeoutMs: 30, cancellationGraceMs: 200 });
    setTimeout(() => second.abort(), 10);
    expect(failure(await racing.one('t', {}, { runContext: { ...racing.runContext, signal: second.signal } }))).toMatchObject({ kind: 'aborted' });
  });

  it('13.4 at most one listener per call in flight, none after it', async () => {
    const { signal, listeners } = countedSignal();
    const gate = deferred();
    const b = bench([entry('t', { execute: () => gate.promise })]);
    const done = b.batch(['t', 't', 't'], { runContext: { ...b.runContext, signal } });
    await sleep(1);
    expect(listeners()).toBeLessThanOrEqual(3);
    expect(listeners()).toBeGreaterThan(0);
    gate.resolve();
    await done;
    expect(listeners()).toBe(0);
  });
});

describe('7.11 the sandbox path', () => {
  const boxed = (result: unknown, fields: Loose = {}, options: Loose = {}) => {
    const runs: unknown[][] = [];
    const policies: Loose[] = [];
    const execute = vi.fn(async () => 'inline');
    const sandbox = { id: 'box', run(this: unknown, ...args: unknown[]) { runs.push([this, ...args]); return typeof result === 'function' ? (result as () => Promise<unknown>)() : Promise.resolve(result); } };
    const b = bench([entry('t', { execute, ...fields })], { sandboxResolver: (policy: unknown) => { policies.push(policy as Loose); return sandbox as never; }, ...options });
    return { b, runs, policies, execute, sandbox };
  };

  it('ok: the body does not run inline; the reference, the options and `this` are right; envelopes are unwrapped', async () => {
    const { b, runs, policies, execute, sandbox } = boxed({ ok: true, output: { output: 'boxed', taint: {} }, durationMs: 1 });
    const args = { a: 1 };
    expect(success(await b.one('t', args)).output).toBe('boxed');
    expect(execute).not.toHaveBeenCalled();
    expect(runs[0]![0]).toBe(sandbox);
    expect(runs[0]![1]).toEqual({ kind: 'handler', module: 't', export: 'execute' });
    expect(runs[0]![2]).toEqual({ input: args, signal: expect.any(AbortSignal), timeoutMs: 5000, maxMemoryMb: 256, allowNetwork: true, allowFs: true });
    expect((runs[0]![2] as Loose)['input']).toBe(args);
    expect(policies[0]).toMatchObject({ kind: 'worker-threads', noNetwork: false, noFilesystem: false, timeoutMs: 5000, maxMemoryMb: 256, forced: false, reason: expect.any(String) });
  });

  it('12: untrusted closes network and files', async () => {
    const { b, runs, policies } = boxed({ ok: true, output: 1, durationMs: 1 }, { sandboxPolicy: 'none' });
    success(await b.one('t', {}, { trustLevel: 'untrusted' }));
    expect(runs[0]![2]).toMatchObject({ timeoutMs: 5000, maxMemoryMb: 128, allowNetwork: false, allowFs: false });
    expect(policies[0]).toMatchObject({ kind: 'worker-threads', noNetwork: true, noFilesystem: true, forced: true });
  });

  it.each([
    ['timeout', 'timeout'], ['sandbox-violation', 'sandbox_violation'], ['memory-exceeded', 'sandbox_violation'],
    ['aborted', 'aborted'], ['execution-failed', 'execution_failed'],
  ])('%s becomes %s', async (kind, expected) => {
    const cause = { native: true };
    const { b } = boxed({ ok: false, error: { kind, message: 'no luck', cause }, durationMs: 1 });
    const outcome = failure(await b.one('t'));
    expect(outcome).toMatchObject({ kind: expected, message: `[sandbox:box] ${kind}: no luck` });
    expect((outcome.cause as Error).name).toBe('SandboxOutcomeError');
    expect((outcome.cause as Error).cause).toBe(cause);
    // A sandbox-reported abort is not a cancellation of ours.
    expect(b.row('tool:execute:error')?.metadata).toEqual({ kind: expected });
    expect(Object.keys(counters()).some((key) => key.includes('dropped'))).toBe(false);
  });

  it('an unknown kind, a missing error, a rejected run', async () => {
    expect(failure(await boxed({ ok: false, error: { kind: 'toString', message: 'm' }, durationMs: 1 }).b.one('t')))
      .toMatchObject({ kind: 'execution_failed', message: '[sandbox:box] execution-failed: m' });
    expect(failure(await boxed({ ok: false, durationMs: 1 }).b.one('t')).message)
      .toBe('[sandbox:box] execution-failed: sandbox returned a non-ok result without error metadata');
    expect(failure(await boxed(() => Promise.reject(new Error('gone'))).b.one('t'))).toMatchObject({ kind: 'execution_failed', message: 'gone' });
    expect(failure(await boxed(() => { throw new Error('sync'); }).b.one('t'))).toMatchObject({ kind: 'execution_failed', message: 'sync' });
  });

  it('a sandbox timeout of a writer carries the warning (7.12)', async () => {
    const { b } = boxed({ ok: false, error: { kind: 'timeout', message: 'm' }, durationMs: 1 }, writer);
    expect(failure(await b.one('t'))).toMatchObject({ kind: 'timeout', recoverable: false, recoveryHint: 'report_to_user', hint: expect.stringContaining('may still have completed') });
  });

  it('no inline timer, but cancellation races it', async () => {
    const controller = new AbortController();
    const { b } = boxed(never, {}, { inlineToolTimeoutMs: 5, cancellationGraceMs: 5 });
    setTimeout(() => controller.abort(), 25);
    expect(failure(await b.one('t', {}, { runContext: { ...b.runContext, signal: controller.signal } })).kind).toBe('aborted');
  });
});

describe('7.10 memory guard', () => {
  const snapshot = { digest: [{ region: 'm', hash: '1' }], durationUs: 1 };
  const guarded = (guard: Loose, fields: Loose = {}, options: Loose = {}) => {
    const tiers: unknown[] = [];
    const b = bench([entry('t', fields)], {
      memoryGuardFactory: (tier: string) => { tiers.push(tier); return { tier, ...guard } as never; },
      memoryRegionReader: { regions: ['m'], read: async () => 'x' },
      ...options,
    } as never);
    return { b, tiers };
  };

  it('snapshot, execute, verify, in this order, with the reader and the snapshot', async () => {
    const order: unknown[] = [];
    const { b, tiers } = guarded({
      snapshot: async (reader: unknown) => { order.push('snapshot', typeof reader); return snapshot; },
      verify: async (pre: unknown) => { order.push('verify', pre === snapshot); return { ok: true, tier: 'unknown', snapshot, verifyDurationUs: 3 }; },
    }, { execute: async () => { order.push('execute'); } });
    success(await b.one('t'));
    expect(order).toEqual(['snapshot', 'object', 'execute', 'verify', true]);
    expect(tiers).toEqual(['unknown']);
    const all: Loose = Object.assign({}, ...b.tracer.spans[0]!.attributes);
    expect(all).toMatchObject({ 'graphorin.tool.memory_guard.verify.ok': true, 'graphorin.tool.memory_guard.verify.duration_us': 3 });
  });

  it('a mismatch is counted and reported, the call succeeds, the errors counter is untouched', async () => {
    const { b } = guarded({ snapshot: async () => snapshot, verify: async () => ({ ok: false, tier: 'untrusted', mismatched: ['m'], snapshot, verifyDurationUs: 1 }) }, { memoryGuardTier: 'untrusted' });
    success(await b.one('t'));
    expect(counters()['tool.executor.memory_guard.mismatch.total{tier=untrusted,toolName=t}']).toBe(1);
    expect(Object.keys(counters()).some((key) => key.startsWith('tool.executor.errors'))).toBe(false);
    expect(b.row('tool:execute:error')?.metadata).toEqual({ kind: 'memory-guard-mismatch', regions: ['m'], tier: 'untrusted' });
  });

  it('no verify after a failure, none without a reader', async () => {
    const verify = vi.fn();
    const take = vi.fn(async () => snapshot);
    const failing = guarded({ snapshot: take, verify }, { execute: async () => { throw new Error('x'); } });
    failure(await failing.b.one('t'));
    expect(take).toHaveBeenCalledTimes(1);
    const blind = guarded({ snapshot: take, verify }, {}, { memoryRegionReader: undefined });
    success(await blind.b.one('t'));
    expect(blind.tiers).toEqual(['unknown']);
    expect(take).toHaveBeenCalledTimes(1);
    expect(verify).not.toHaveBeenCalled();
  });

  it('failing snapshots and verifies are swallowed: counted, and no error row', async () => {
    const verify = vi.fn();
    const broken = [
      guarded({ snapshot: async () => { throw new Error('s'); }, verify }),
      guarded({ snapshot: () => { throw new Error('s'); }, verify }),
      guarded({ snapshot: async () => snapshot, verify: async () => { throw new Error('v'); } }),
    ];
    for (const { b } of broken) {
      success(await b.one('t'));
      expect(b.rows.map(({ action }) => action)).toEqual(['tool:execute:start', 'tool:execute:end']);
    }
    expect(verify).not.toHaveBeenCalled();
    expect(counters()).toMatchObject({
      'tool.executor.callback-failed.total{callback=memoryGuard.snapshot,toolName=t}': 2,
      'tool.executor.callback-failed.total{callback=memoryGuard.verify,toolName=t}': 1,
    });
  });

  it('22 row 27: a failing strict snapshot blocks the call', async () => {
    const execute = vi.fn(async () => 'ran');
    const { b } = guarded({ snapshot: async () => { throw new Error('too large'); }, verify: vi.fn() }, { memoryGuardTier: 'untrusted', execute });
    expect(failure(await b.one('t'))).toMatchObject({ kind: 'capability_blocked', message: expect.stringContaining('too large') });
    expect(execute).not.toHaveBeenCalled();
  });
});

describe('7.10 idempotency key', () => {
  it('evaluated with the validated input, counted, recorded in the end row; a throw leaves none', async () => {
    const b = bench([
      entry('t', { idempotencyKey: async (input: Loose) => `key-${String(input['a'])}`, ...writer }),
      entry('bad', { idempotencyKey: () => { throw new Error('x'); } }),
    ]);
    success(await b.one('t', { a: 7 }));
    expect(b.row('tool:execute:end')?.metadata).toEqual({ durationMs: expect.any(Number), idempotencyKey: 'key-7' });
    expect(counters()['tool.classification.idempotency-key-evaluated.total{sideEffectClass=side-effecting,toolName=t}']).toBe(1);
    b.rows.length = 0;
    success(await b.one('bad'));
    expect(b.row('tool:execute:end')?.metadata).toEqual({ durationMs: expect.any(Number) });
    expect(Object.keys(counters()).filter((key) => key.includes('idempotency-key-evaluated'))).toHaveLength(1);
  });
});

describe('issue 4: idempotencyStore', () => {
  it.each([[null], ['ok'], [undefined]])('an entry with the outcome %j stops the call, and says which entry', async (outcome) => {
    const execute = vi.fn(async () => 'ran');
    const b = bench([entry('t', { ...writer, idempotencyKey: () => 'k', execute })], { idempotencyStore: { get: () => ({ fingerprint: 'f', outcome }), set: () => {} } } as never);
    await expect(b.one('t')).rejects.toThrow(new TypeError('idempotencyStore.get: the entry of "t\\u0000k" has no outcome.'));
    expect(execute).not.toHaveBeenCalled();
  });

  it.each([
    ['without an outcome', { fingerprint: 'f' }],
    ['that throws when it is read', { get outcome(): never { throw new Error('damaged'); } }],
  ])('an entry %s holds up no other call of its key', async (_, damaged) => {
    let broken = true;
    const execute = vi.fn(async () => 'ran');
    const b = bench([entry('t', { ...writer, idempotencyKey: () => 'k', execute })], { idempotencyStore: { get: async () => (broken ? damaged : undefined), set: () => {} } } as never);
    const [first, joined] = await Promise.allSettled([b.one('t'), b.one('t')]);
    expect(first.status).toBe('rejected');
    expect(joined).toMatchObject({ status: 'fulfilled', value: { outcome: { kind: 'execution_failed' } } });
    await expect(b.one('t')).rejects.toThrow();
    broken = false;
    expect(success(await b.one('t')).output).toBe('ran');
    expect(execute).toHaveBeenCalledTimes(1);
  });

  const setUp = (execute: () => Promise<unknown>, store: Map<string, unknown> = new Map()) => {
    const runs = vi.fn(execute);
    const b = bench([entry('t', { ...writer, idempotencyKey: (input: Loose) => String(input['key']), execute: runs })], {
      idempotencyStore: { get: (key: string) => store.get(key) as never, set: (key: string, value: unknown) => { store.set(key, value); } },
    } as never);
    return { b, runs, store };
  };

  it('the same key and arguments return the stored result under the new call id', async () => {
    const { b, runs } = setUp(async () => ({ n: 1 }));
    const first = await b.one('t', { key: 'k', a: 1, b: 2 });
    const second = await b.one('t', { b: 2, a: 1, key: 'k' });
    expect(runs).toHaveBeenCalledTimes(1);
    expect(success(second).output).toEqual({ n: 1 });
    expect(second.outcome.toolCallId).toBe(second.call.toolCallId);
    expect(first.call.toolCallId).not.toBe(second.call.toolCallId);
    expect(b.events.filter((event) => event.type === 'tool.execute.end')).toHaveLength(2);
  });

  it('a second call joins the first in flight; it shares a failure too, which is not stored', async () => {
    const { b, runs } = setUp(async () => { await sleep(10); return 'once'; });
    const [one, two] = await Promise.all([b.one('t', { key: 'k' }), b.one('t', { key: 'k' })]);
    expect(runs).toHaveBeenCalledTimes(1);
    expect([success(one).output, success(two).output]).toEqual(['once', 'once']);

    const failing = setUp(async () => { await sleep(5); throw new Error('down'); });
    const records = await Promise.all([failing.b.one('t', { key: 'k' }), failing.b.one('t', { key: 'k' })]);
    expect(records.map((record) => failure(record).message)).toEqual(['down', 'down']);
    expect(records.map((record) => record.outcome.toolCallId)).toEqual(records.map((record) => record.call.toolCallId));
    expect(failing.store.size).toBe(0);
    failure(await failing.b.one('t', { key: 'k' }));
    expect(failing.runs).toHaveBeenCalledTimes(2);
  });

  it('the same key with other arguments is an error, stored or in flight', async () => {
    const { b, runs } = setUp(async () => { await sleep(5); return 1; });
    const first = b.one('t', { key: 'k', a: 1 });
    expect(failure(await b.one('t', { key: 'k', a: 2 }))).toMatchObject({ kind: 'invalid_input', message: expect.stringContaining('idempotency key') });
    success(await first);
    expect(failure(await b.one('t', { key: 'k', a: 2 })).kind).toBe('invalid_input');
    expect(runs).toHaveBeenCalledTimes(1);
  });

  it('a store that throws or rejects on set loses nothing; other keys run on their own', async () => {
    for (const set of [() => { throw new Error('full'); }, () => Promise.reject(new Error('full'))]) {
      const runs = vi.fn(async () => 'ok');
      const b = bench([entry('t', { ...writer, idempotencyKey: (input: Loose) => String(input['key']), execute: runs })], { idempotencyStore: { get: () => undefined, set } } as never);
      success(await b.one('t', { key: 'a' }));
      success(await b.one('t', { key: 'b' }));
      expect(runs).toHaveBeenCalledTimes(2);
    }
  });

  it('a store whose get fails does not run the tool, and does not poison the key', async () => {
    let broken = true;
    const runs = vi.fn(async () => 'ok');
    const b = bench([entry('t', { ...writer, idempotencyKey: () => 'k', execute: runs })], {
      idempotencyStore: { get: () => { if (broken) throw new Error('store down'); return undefined; }, set: () => {} },
    } as never);
    expect(failure(await b.batchOne('t')).message).toContain('store down');
    expect(runs).not.toHaveBeenCalled();
    broken = false;
    success(await b.batchOne('t'));
    expect(runs).toHaveBeenCalledTimes(1);
  });

  it('a joined call that is aborted does not wait for the first', async () => {
    const gate = deferred<string>();
    const { b, runs } = setUp(() => gate.promise);
    const controller = new AbortController();
    const first = b.one('t', { key: 'k' });
    await sleep(1);
    const joined = b.batchOne('t', { key: 'k' }, { runContext: { ...b.runContext, signal: controller.signal } });
    await sleep(1);
    controller.abort();
    expect(failure(await joined).kind).toBe('aborted');
    gate.resolve('done');
    expect(success(await first).output).toBe('done');
    expect(runs).toHaveBeenCalledTimes(1);
  });

  it('the cancellation of the first is not the outcome of the second, which runs itself', async () => {
    const gates = [deferred<string>(), deferred<string>()];
    const { b, runs } = setUp(() => gates[runs.mock.calls.length - 1]!.promise);
    const controller = new AbortController();
    const first = b.batchOne('t', { key: 'k' }, { runContext: { ...b.runContext, signal: controller.signal } });
    await sleep(1);
    const second = b.one('t', { key: 'k' });
    await sleep(1);
    controller.abort();
    expect(failure(await first).kind).toBe('aborted');
    gates[1]!.resolve('mine');
    expect(success(await second).output).toBe('mine');
    expect(runs).toHaveBeenCalledTimes(2);
  });

  it('a joined failure hands on its kind, its hint and the thrown value itself', async () => {
    const boom = new ToolRateLimitError('slow down', { retryAfterMs: 7 });
    const execute = async () => { await sleep(2); throw boom; };
    const b = bench([entry('t', { ...writer, idempotencyKey: () => 'k', execute })], {
      retry: { maxAttempts: 1 }, idempotencyStore: { get: () => undefined, set: () => {} },
    } as never);
    const records = await Promise.all([b.one('t'), b.one('t')]);
    const [one, two] = records.map(failure);
    expect(two).toEqual({ ...one, toolCallId: two!.toolCallId });
    expect(two!.cause).toBe(boom);
    expect(two!.hint).toBe('retry after 7ms');
  });

  it('an empty key joins nobody, and two tools may use one key', async () => {
    const empty = setUp(async () => 'ok');
    for (const _ of [1, 2]) success(await empty.b.one('t', { key: '' }));
    expect([empty.runs.mock.calls.length, empty.store.size]).toEqual([2, 0]);

    const both = vi.fn(async () => { await sleep(2); return 'ok'; });
    const tools = ['x', 'y'].map((name) => entry(name, { ...writer, idempotencyKey: () => 'k', execute: both }));
    const b = bench(tools, { idempotencyStore: { get: () => undefined, set: () => {} } } as never);
    for (const record of await Promise.all([b.one('x'), b.one('y')])) success(record);
    expect(both).toHaveBeenCalledTimes(2);
  });

  it('arguments without a JSON text have a fingerprint too', async () => {
    const { b, runs } = setUp(async () => 'ok');
    success(await b.one('t', { key: 'k', n: 10n }));
    success(await b.one('t', { n: 10n, key: 'k' }));
    expect(failure(await b.one('t', { key: 'k', n: 11n })).kind).toBe('invalid_input');
    expect(runs).toHaveBeenCalledTimes(1);
  });

  it('a retried call with a key runs again under the same key', async () => {
    let attempts = 0;
    const { b } = setUp(async () => { attempts += 1; if (attempts < 2) throw new ToolRateLimitError('x', { retryAfterMs: 1 }); return 'ok'; });
    expect(success(await b.one('t', { key: 'k' })).output).toBe('ok');
    expect(attempts).toBe(2);
  });

  it('without the option nothing is de-duplicated', async () => {
    const runs = vi.fn(async () => 'ok');
    const executor = createToolExecutor({ registry: registryOf([entry('t', { idempotencyKey: () => 'k', execute: runs })]) as never });
    const b = bench([]);
    for (let at = 0; at < 2; at += 1) await executor.executeOne({ call: call('t'), runContext: b.runContext, stepNumber: 1 });
    expect(runs).toHaveBeenCalledTimes(2);
  });
});
