/**
 * Random batches against a small reference model (issue 4): what every call ends as, in which order
 * calls are entered, how many run at once, and that nothing is left behind.
 */
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NOOP_TRACER } from 'ferrule/core';
import { ToolRateLimitError } from 'ferrule/executor';
import { openFrameCount } from '../../js/executor/frame.js';
import { callRuntime } from '../../js/executor/runtime.js';
import { bench, call, countedSignal, entry, type Loose } from './kit.js';

interface Plan {
  readonly mode: 'parallel' | 'sequential';
  /** Milliseconds of each attempt. */
  readonly ms: number;
  readonly ending: 'returns' | 'throws' | 'invalid' | 'unknown' | 'hangs' | 'hook denies' | 'schema output';
  /** Rate limits before the ending. */
  readonly limits: number;
  readonly approval: 'none' | 'granted' | 'denied' | 'gate throws';
  readonly gateMs: number;
  readonly writer: boolean;
}

const GRACE = 7;
const LIMIT = 1_000;
const RETRY_MS = 11;
const MAX_ATTEMPTS = 3;

const plan: fc.Arbitrary<Plan> = fc.record({
  mode: fc.constantFrom('parallel', 'parallel', 'parallel', 'sequential'),
  ms: fc.integer({ min: 1, max: 60 }),
  ending: fc.constantFrom('returns', 'returns', 'returns', 'throws', 'invalid', 'unknown', 'hangs', 'hook denies', 'schema output'),
  limits: fc.integer({ min: 0, max: 4 }),
  approval: fc.constantFrom('none', 'none', 'none', 'granted', 'denied', 'gate throws'),
  gateMs: fc.integer({ min: 1, max: 30 }),
  writer: fc.boolean(),
} as const) as fc.Arbitrary<Plan>;

interface Expected {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  readonly entered: number;
}

/** How a call that starts at `start` goes when nothing aborts it. */
function alone(one: Plan, start: number): Expected {
  let now = start;
  let entered = 0;
  const end = (kind: string): Expected => ({ kind, start, end: now, entered });
  if (one.ending === 'unknown') return end('unknown_tool');
  for (let attempt = 1; ; attempt += 1) {
    if (one.ending === 'invalid') return end('invalid_input');
    if (one.ending === 'hook denies') return end('capability_blocked');
    if (one.approval !== 'none') {
      now += one.gateMs;
      if (one.approval === 'denied') return end('approval_denied');
      if (one.approval === 'gate throws') return end('execution_failed');
    }
    entered += 1;
    const limited = attempt <= one.limits;
    if (!limited && one.ending === 'hangs') {
      now += LIMIT;
      return end('timeout');
    }
    now += one.ms;
    if (!limited) return end(one.ending === 'throws' ? 'execution_failed' : one.ending === 'schema output' ? 'invalid_output' : 'ok');
    if (one.writer || attempt >= MAX_ATTEMPTS) return end('rate_limited');
    now += RETRY_MS;
  }
}

/** The batch: sequential calls first, then a rolling window, first in first out. */
function model(plans: ReadonlyArray<Plan>, bound: number): Expected[] {
  const expected = new Array<Expected>(plans.length);
  let now = 0;
  plans.forEach((one, at) => {
    if (one.mode !== 'sequential' || one.ending === 'unknown') return;
    expected[at] = alone(one, now);
    now = expected[at]!.end;
  });
  const lanes = new Array<number>(bound).fill(now);
  plans.forEach((one, at) => {
    if (expected[at]) return;
    const lane = lanes.indexOf(Math.min(...lanes));
    expected[at] = alone(one, lanes[lane]!);
    lanes[lane] = expected[at]!.end;
  });
  return expected;
}

function build(plans: ReadonlyArray<Plan>, bound: number) {
  const attempts = new Map<number, number>();
  const entered: [number, number][] = [];
  let inFlight = 0;
  let peak = 0;
  const started = Date.now();
  const tools = plans.filter(({ ending }) => ending !== 'unknown').map((one) => {
    const at = plans.indexOf(one);
    return entry(`t${at}`, {
      executionMode: one.mode,
      __sideEffectClass: one.writer ? 'side-effecting' : 'read-only',
      needsApproval: one.approval !== 'none',
      inputSchema: { parse: (x: unknown) => x, safeParse: (data: unknown) => (one.ending === 'invalid' ? { success: false, error: { message: 'no' } } : { success: true, data }) },
      ...(one.ending === 'schema output' ? { outputSchema: { parse: (x: unknown) => x, safeParse: () => ({ success: false, error: { message: 'no' } }) } } : {}),
      execute: async () => {
        const attempt = (attempts.get(at) ?? 0) + 1;
        attempts.set(at, attempt);
        entered.push([at, Date.now() - started]);
        inFlight += 1;
        peak = Math.max(peak, inFlight);
        try {
          if (attempt > one.limits && one.ending === 'hangs') return await new Promise(() => {});
          await new Promise((resolve) => setTimeout(resolve, one.ms));
          if (attempt <= one.limits) throw new ToolRateLimitError('slow', { retryAfterMs: RETRY_MS });
          if (one.ending === 'throws') throw new Error('boom');
          return at;
        } finally {
          inFlight -= 1;
        }
      },
    });
  });
  const indexOf = (name: string): number => Number(name.slice(1));
  const b = bench(tools, {
    maxParallelTools: bound, cancellationGraceMs: GRACE, inlineToolTimeoutMs: LIMIT, retry: { maxAttempts: MAX_ATTEMPTS },
    permissionHook: ({ toolName }) => ({ decision: plans[indexOf(toolName)]!.ending === 'hook denies' ? 'deny' : 'allow' }),
    approvalGate: { request: async (one) => {
      const { approval, gateMs } = plans[indexOf(one.toolName)]!;
      await new Promise((resolve) => setTimeout(resolve, gateMs));
      if (approval === 'gate throws') throw new Error('gate');
      return { granted: approval === 'granted' } as never;
    } },
  });
  return { b, attempts, entered, peak: () => peak, calls: plans.map((_, at) => call(`t${at}`, {}, `c${at}`)) };
}

const kindOf = ({ outcome }: { outcome: object }): string => ('kind' in outcome ? (outcome as { kind: string }).kind : 'ok');

describe('issue 4: the model', () => {
  afterEach(() => vi.useRealTimers());

  it('random batches end, in outcome and in time, as the model says', async () => {
    vi.useFakeTimers();
    const frames = openFrameCount();
    await fc.assert(
      fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 14 }), fc.integer({ min: 1, max: 5 }), async (plans, bound) => {
        const { b, attempts, entered, calls } = build(plans, bound);
        const started = Date.now();
        let ended = -1;
        const done = b.batch(calls, { runContext: { ...b.runContext, tracer: NOOP_TRACER } }).then((records) => { ended = Date.now() - started; return records; });
        await vi.runAllTimersAsync();
        const records = await done;
        const expected = model(plans, bound);
        expect(records.map(kindOf)).toEqual(expected.map(({ kind }) => kind));
        expect(records.map((record) => record.call.toolCallId)).toEqual(calls.map(({ toolCallId }) => toolCallId));
        expect(plans.map((_, at) => attempts.get(at) ?? 0)).toEqual(expected.map((one) => one.entered));
        expect(ended).toBe(Math.max(...expected.map(({ end }) => end)));
        // Calls without gates and retries are entered exactly when the model starts them.
        plans.forEach((one, at) => {
          if (one.approval !== 'none' || expected[at]!.entered === 0) return;
          expect(entered.find(([which]) => which === at)![1]).toBe(expected[at]!.start);
        });
        expect(vi.getTimerCount()).toBe(0);
        expect([openFrameCount(), callRuntime().liveTasks()]).toEqual([frames, 0]);
      }),
      { numRuns: 60 },
    );
  });

  it('random batches with an abort: every call has its record, finished ones keep theirs, nothing runs on', async () => {
    vi.useFakeTimers();
    await fc.assert(
      fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 14 }), fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 150 }), async (plans, bound, abortAt) => {
        const { b, calls, entered, peak } = build(plans, bound);
        const { controller, signal, listeners } = countedSignal();
        const started = Date.now();
        let ended = -1;
        // Off the grid of the other timers, so that no tie has to be modelled.
        setTimeout(() => controller.abort(), abortAt + 0.5);
        const done = b.batch(calls, { runContext: { ...b.runContext, tracer: NOOP_TRACER, signal } }).then((records) => { ended = Date.now() - started; return records; });
        await vi.runAllTimersAsync();
        const records = await done;
        const expected = model(plans, bound);
        expect(records).toHaveLength(plans.length);
        records.forEach((record, at) => {
          const { kind, end, start } = expected[at]!;
          if (end < abortAt) expect(kindOf(record)).toBe(kind);
          // What would start only afterwards is not started.
          if (start > abortAt + 1) {
            expect(kindOf(record)).toBe('aborted');
            expect(entered.some(([which]) => which === at)).toBe(false);
          }
        });
        // One grace for a gate that answers just within it, one for the tool it lets in.
        const last = abortAt + 2 * GRACE + 2;
        expect(ended).toBeLessThanOrEqual(Math.min(last, Math.max(abortAt + 1, ...expected.map(({ end }) => end)) + 2 * GRACE));
        expect(peak()).toBeLessThanOrEqual(bound + plans.length);
        // A gate may still answer within the grace; that call had started.
        expect(entered.every(([, when]) => when <= abortAt + GRACE + 1)).toBe(true);
        expect(listeners()).toBe(0);
        expect(callRuntime().liveTasks()).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it('events and rows of a call are well formed whatever happens', async () => {
    vi.useFakeTimers();
    await fc.assert(
      fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 3 }), async (plans, bound) => {
        const { b, calls } = build(plans, bound);
        const done = b.batch(calls);
        await vi.runAllTimersAsync();
        const records = await done;
        for (const record of records) {
          const id = record.call.toolCallId;
          const events = b.events.filter((event) => event.toolCallId === id).map((event) => event.type.replace('tool.execute.', ''));
          expect(events.join(' ')).toMatch(/^((start )?error ?)*(start end|start)?$/);
          expect(events.filter((type) => type === 'end')).toHaveLength(kindOf(record) === 'ok' ? 1 : 0);
          const rows = b.rows.filter((row) => (row.context as Loose)['toolCallId'] === id).map((row) => row.action);
          expect(rows.filter((action) => action === 'tool:execute:end')).toHaveLength(kindOf(record) === 'ok' ? 1 : 0);
          expect(rows.filter((action) => action === 'tool:execute:start')).toHaveLength(events.filter((type) => type === 'start').length);
        }
      }),
      { numRuns: 25 },
    );
  });
});
