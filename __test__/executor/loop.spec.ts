/** The task loop (issue 2, item 2; spec 04 sections 9.9 and 9.10; P64, P65): what it survives and leaves behind. */
import { describe, expect, it, vi } from 'vitest';
import { ToolRateLimitError } from 'ferrule/executor';
import { openFrameCount } from '../../js/executor/frame.js';
import { callRuntime } from '../../js/executor/runtime.js';
import { child } from './child.js';
import { bench, call, countedSignal, deferred, entry, nothing, sleep, success } from './kit.js';

describe('issue 2: what the loop survives', () => {
  it('a promise that never settles holds nobody else', async () => {
    const b = bench([entry('never', { execute: () => new Promise(() => {}) }), entry('ok')], { inlineToolTimeoutMs: 15 });
    const records = await b.batch(['never', 'ok', 'never', 'ok']);
    expect(records.map(({ outcome }) => ('kind' in outcome ? outcome.kind : outcome.output))).toEqual(['timeout', 'ok', 'timeout', 'ok']);
  });

  it('thenables that call back at once, twice, with both ends, or throw afterwards', async () => {
    const thens: [(yes: (value: unknown) => void, no: (error: unknown) => void) => void, unknown][] = [
      [(yes) => yes('a'), 'a'], [(yes) => { yes('a'); yes('b'); }, 'a'], [(yes, no) => { yes('a'); no(new Error('b')); }, 'a'],
      [(yes) => { yes('a'); throw new Error('after'); }, 'a'], [(_yes, no) => no(new Error('bad')), 'bad'], [(yes) => { yes({ then: (inner: (value: string) => void) => inner('deep') }); }, 'deep'],
    ];
    for (const [then, expected] of thens) {
      const { outcome } = await bench([entry('t', { execute: () => ({ then }) })]).one('t');
      expect('kind' in outcome ? outcome.message : outcome.output).toBe(expected);
    }
  });

  it('exceptions in the middle of a poll, and calls made from within callbacks', async () => {
    const b: ReturnType<typeof bench> = bench([entry('t'), entry('bad', { needsApproval: () => { throw new Error('mid-poll'); } })], {
      permissionHook: ({ toolName }) => { if (toolName === 'bad') nested.push(b.batchOne('t')); return { decision: 'allow' }; },
      streamingSink: (event) => { if (event.type === 'tool.execute.start' && nested.length < 6) nested.push(b.batchOne('t')); },
    });
    const nested: Promise<unknown>[] = [];
    const records = await b.batch(['bad', 't', 'bad', 't']);
    expect(records.map(({ outcome }) => ('kind' in outcome ? outcome.kind : outcome.output))).toEqual(['execution_failed', 'ok', 'execution_failed', 'ok']);
    for (const record of (await Promise.all(nested)) as never[]) success(record);
  });

  it('a wake from another thread reaches this realm', async () => {
    const woken = deferred();
    callRuntime().probeForeignWake(5, () => woken.resolve());
    await woken.promise;
  });

  it('slots are reused without one call hearing of another', async () => {
    const late: (() => void)[] = [];
    const b = bench([entry('slow', { execute: () => new Promise((resolve) => late.push(() => resolve('stale'))) }), entry('t', { execute: async ({ at }: { at: number }) => { late.pop()?.(); await sleep(at % 2); return at; } })], { inlineToolTimeoutMs: 12 });
    for (let round = 0; round < 5; round += 1) {
      await b.batch(['slow', 'slow', 'slow']);
      const records = await b.batch(Array.from({ length: 12 }, (_, at) => call('t', { at })));
      expect(records.map((record) => success(record).output)).toEqual(Array.from({ length: 12 }, (_, at) => at));
    }
  });
});

describe('issue 4: nothing is left behind', () => {
  it('10,000 mixed calls leave no listener, timer, frame or task', async () => {
    const runtime = callRuntime();
    const [frames, tasks] = [openFrameCount(), runtime.liveTasks()];
    const timers = new Set<unknown>();
    const { setTimeout: set, clearTimeout: clear } = globalThis;
    const setSpy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((fn: () => void, ms?: number) => {
      const timer = set(() => { timers.delete(timer); fn(); }, ms);
      timers.add(timer);
      return timer;
    }) as never);
    const clearSpy = vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => { timers.delete(timer); clear(timer as never); });
    const { controller, signal, listeners } = countedSignal();
    const snapshot = { digest: [], durationUs: 1 };
    let flaky = 0;
    const b = bench([
      entry('ok'), entry('throws', { execute: async () => { throw new Error('x'); } }), entry('invalid', { inputSchema: nothing }),
      entry('gated', { needsApproval: async () => true }), entry('denied', { needsApproval: true }), entry('predicate', { needsApproval: () => { throw new Error('x'); } }),
      entry('output', { outputSchema: nothing }), entry('slow', { execute: () => new Promise(() => {}) }),
      entry('flaky', { execute: async () => { flaky += 1; if (flaky % 3 !== 0) throw new ToolRateLimitError('x', { retryAfterMs: 0 }); } }),
      entry('guarded', { memoryGuardTier: 'untrusted' }), entry('keyed', { idempotencyKey: async () => 'k' }), entry('long', { maxResultTokens: 20, execute: async () => 'x'.repeat(500) }),
      entry('sequential', { executionMode: 'sequential' }),
    ], {
      inlineToolTimeoutMs: 10, retry: { maxAttempts: 3 }, maxParallelTools: 32,
      approvalGate: { request: async (one) => ({ granted: one.toolName === 'gated' }) as never },
      memoryGuardFactory: (tier) => ({ tier, snapshot: async () => snapshot, verify: async () => ({ ok: true as const, tier, snapshot, verifyDurationUs: 1 }) }),
      memoryRegionReader: { regions: [], read: async () => '' },
      idempotencyStore: { get: () => undefined, set: () => {} }, emitAudit: () => {}, streamingSink: () => {},
    });
    const names = ['ok', 'throws', 'invalid', 'gated', 'denied', 'predicate', 'output', 'flaky', 'guarded', 'keyed', 'long', 'sequential', 'nope'];
    const runContext = { ...b.runContext, signal, tracer: (await import('ferrule/core')).NOOP_TRACER };
    for (let round = 0; round < 20; round += 1) {
      const calls = Array.from({ length: 500 }, (_, at) => call(at % 97 === 0 ? 'slow' : names[at % names.length]!));
      expect(await b.batch(calls, { runContext })).toHaveLength(500);
    }
    expect(listeners()).toBe(0);
    // And an aborted batch, after which only the grace of what was abandoned may still run.
    setTimeout(() => controller.abort(), 3);
    await b.batch(Array.from({ length: 100 }, () => 'slow'), { runContext });
    expect([openFrameCount(), runtime.liveTasks(), listeners()]).toEqual([frames, tasks, 0]);
    expect(timers.size).toBe(0);
    setSpy.mockRestore();
    clearSpy.mockRestore();
  });

  it('100,000 calls: heap and resident memory stay flat', async () => {
    const { report } = await child<Record<'heapMb' | 'rssMb' | 'externalMb', number>>('leak', ['clean', '100000'], ['--expose-gc']);
    expect(report.heapMb).toBeLessThan(4);
    expect(report.externalMb).toBeLessThan(4);
    expect(report.rssMb).toBeLessThan(40);
  }, 300_000);

  it('and that measurement sees a leak where there is one', async () => {
    const { report } = await child<{ heapMb: number }>('leak', ['leaky', '8000'], ['--expose-gc']);
    expect(report.heapMb).toBeGreaterThan(4);
  }, 60_000);
});
