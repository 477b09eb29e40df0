/** Async functions where an answer is not waited for (issue 4: whatever a callback does is contained and reported). */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bench, counters, entry, failure, run, sleep, success, type Loose } from './kit.js';

const unhandled = vi.fn();
beforeEach(() => {
  unhandled.mockClear();
  process.on('unhandledRejection', unhandled);
});
afterEach(() => process.off('unhandledRejection', unhandled));

const rejects = async (): Promise<never> => {
  throw new Error('server down');
};
const WRITER = { __sideEffectClass: 'side-effecting' };
const allows = { evaluate: () => ({ effect: 'allow' }) };
const counted = (callback: string): number | undefined =>
  counters()[`tool.executor.callback-failed.total{callback=${callback},toolName=t}`] as number | undefined;

describe('a rejecting observer: the result is there, the failure is told, the process goes on', () => {
  const cases: [string, Loose][] = [
    ['streamingSink', { streamingSink: rejects }],
    ['tokenCounter.count', { tokenCounter: { count: rejects } }],
    ['dataFlowGuard.record', { dataFlowGuard: { inspect: () => ({ action: 'allow' }), record: rejects } }],
  ];
  it.each(cases)('%s', async (callback, options) => {
    const b = bench([entry('t', WRITER)], options as never);
    expect(success(await b.one('t')).output).toBe('ok');
    await sleep(1);
    expect(unhandled).not.toHaveBeenCalled();
    expect(counted(callback)).toBeGreaterThan(0);
    expect(b.row('tool:execute:error')).toMatchObject({
      target: 't',
      context: { toolCallId: expect.stringMatching(/^call-/) },
      metadata: { kind: 'callback-failed', callback, message: 'server down' },
    });
  });

  it('emitAudit, which is only counted', async () => {
    const emitAudit = vi.fn(rejects);
    const b = bench([entry('t')], { emitAudit } as never);
    expect(success(await b.one('t')).output).toBe('ok');
    const rows = emitAudit.mock.calls.length;
    await sleep(1);
    expect(unhandled).not.toHaveBeenCalled();
    expect(rows).toBeGreaterThan(0);
    expect(counted('emitAudit')).toBe(rows);
    expect(emitAudit).toHaveBeenCalledTimes(rows);
  });

  it('a span', async () => {
    const span = { setAttributes: rejects, addEvent: () => {}, setStatus: () => {}, recordException: () => {}, end: () => {} };
    const tracer = { span: async (_: unknown, fn: (span: unknown) => unknown) => await fn(span) };
    const b = bench([entry('t')]);
    expect(success(await b.one('t', {}, { runContext: run({ tracer }) })).output).toBe('ok');
    await sleep(1);
    expect(unhandled).not.toHaveBeenCalled();
    expect(counted('span.setAttributes')).toBeGreaterThan(0);
  });

  it('a thenable that is no promise is taken care of as well', async () => {
    const then = vi.fn((_: unknown, reject: (error: unknown) => void) => reject(new Error('late')));
    const b = bench([entry('t')], { streamingSink: () => ({ then }) } as never);
    expect(success(await b.one('t')).output).toBe('ok');
    await sleep(1);
    expect(then).toHaveBeenCalled();
    expect(counted('streamingSink')).toBe(then.mock.calls.length);
  });
});

describe('a decision that has to be there at once: a promise refuses, and its rejection is no unhandled one', () => {
  const cases: [string, Loose, string][] = [
    ['argumentPolicy.deniesName', { argumentPolicy: { ...allows, deniesName: rejects } }, 'capability_blocked'],
    ['argumentPolicy.evaluate', { argumentPolicy: { evaluate: rejects } }, 'capability_blocked'],
    ['argumentPolicy.decide', { argumentPolicy: { ...allows, decide: rejects } }, 'capability_blocked'],
    ['dataFlowGuard.inspect', { dataFlowGuard: { inspect: rejects, record: () => {} } }, 'dataflow_policy_blocked'],
  ];
  it.each(cases)('%s', async (callback, options, kind) => {
    const execute = vi.fn(async () => 'ran');
    const b = bench([entry('t', { ...WRITER, execute })], options as never);
    expect(failure(await b.one('t')).kind).toBe(kind);
    await sleep(1);
    expect(execute).not.toHaveBeenCalled();
    expect(unhandled).not.toHaveBeenCalled();
    expect(counted(callback)).toBe(1);
  });

  it.each([
    ['a promise of a refusal', async () => ({ denied: true, reason: 'no shell' })],
    ['a promise of leave', async () => ({ denied: false })],
    ['an empty object', () => ({})],
    ['a word', () => 'deny'],
    ['an answer of another hook', () => ({ effect: 'deny' })],
    ['a number for a boolean', () => ({ denied: 0 })],
  ])('7.2 deniesName that answers %s denies', async (_, deniesName) => {
    const execute = vi.fn(async () => 'ran');
    const b = bench([entry('t', { execute })], { argumentPolicy: { ...allows, deniesName } } as never);
    expect(failure(await b.one('t'))).toMatchObject({
      kind: 'capability_blocked',
      message: "Tool 't' is denied by name: the policy answered with no decision",
    });
    expect(execute).not.toHaveBeenCalled();
  });

  it.each<[string, string, (nothing: () => unknown) => Loose, Loose]>([
    ['evaluate', 'undefined', (nothing) => ({ argumentPolicy: { evaluate: nothing } }), { kind: 'capability_blocked', message: 'Blocked by tool-argument policy: the policy answered with no decision' }],
    ['evaluate', 'null', (nothing) => ({ argumentPolicy: { evaluate: nothing } }), { kind: 'capability_blocked' }],
    ['decide', 'undefined', (nothing) => ({ argumentPolicy: { ...allows, decide: nothing } }), { kind: 'capability_blocked' }],
    ['inspect', 'undefined', (nothing) => ({ dataFlowGuard: { inspect: nothing, record: () => {} } }), { kind: 'dataflow_policy_blocked', message: 'the data-flow guard answered with no verdict' }],
    ['inspect', 'null', (nothing) => ({ dataFlowGuard: { inspect: nothing, record: () => {} } }), { kind: 'dataflow_policy_blocked' }],
  ])('7.8, 7.9: %s that answers %s refuses', async (_, answer, options, refusal) => {
    const execute = vi.fn(async () => 'ran');
    const b = bench([entry('t', { ...WRITER, execute })], options(() => (answer === 'null' ? null : undefined)) as never);
    expect(failure(await b.one('t'))).toMatchObject(refusal);
    expect(execute).not.toHaveBeenCalled();
  });
});
