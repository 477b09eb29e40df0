// What the executor takes and gives, key by key (spec 02 sections 1, 2, 4 to 7, 16, 19).
import { describe, expect, it, vi } from 'vitest';
import * as root from 'ferrule';
import * as executorEntry from 'ferrule/executor';
import * as streamingEntry from 'ferrule/streaming';
import { toolReturn, type CompletedToolCall, type ToolCall } from 'ferrule/core';
import { anything, bench, call, counters, entry, failure, histogram, nothing, success, type Loose } from './kit.js';

const refusal = new executorEntry.ToolRateLimitError('slow down', { retryAfterMs: 1 });

describe('1 exports', () => {
  it('1.3: the root holds every value of both entry points, the very ones', () => {
    const both: Loose = { ...executorEntry, ...streamingEntry };
    const held: Loose = root;
    for (const [name, value] of Object.entries(both)) expect(held[name], name).toBe(value);
  });

  it('1.4: the default limit and the helpers are nobody\'s to import', () => {
    expect(Object.values(root)).not.toContain(60_000);
    expect(Object.keys(streamingEntry).sort()).toEqual(['DEFAULT_MAX_BUFFER_BYTES', 'createStreamingChannel']);
  });
});

describe('2 contracts', () => {
  it('2.1: what else a call carries is in its record', async () => {
    const { executor, runContext } = bench([entry('t')]);
    const wire = { ...call('t'), providerData: { id: 1 } };
    const record = await executor.executeOne({ call: wire, runContext, stepNumber: 3 });
    expect(record.call).toEqual(wire);
    expect(record.call).not.toBe(wire);
  });

  it('2.2, 2.15: the schema is asked by safeParse alone, and what a tool leaves out has its default', async () => {
    const parse = vi.fn();
    const inputSchema = { parse, safeParse: anything.safeParse };
    const tiers: unknown[] = [];
    const bare = entry('t', {
      inputSchema, inboundSanitization: undefined, truncationStrategy: undefined, maxResultTokens: undefined,
      execute: async () => 'x'.repeat(4 * 16_384 + 4),
    });
    const { one, row } = bench([bare], { memoryGuardFactory: (tier: unknown) => (tiers.push(tier), null), memoryRegionReader: { regions: [], read: async () => '' } });
    expect(success(await one('t')).output).toContain('strategy=middle');
    expect([parse.mock.calls, tiers]).toEqual([[], ['unknown']]);
    expect(row('tool:result:sanitization:hit')).toBeUndefined();
  });

  it('2.3, 2.5, 2.6: the keys of a success, of a failure and of a record', async () => {
    const { one } = bench([entry('t', { execute: async () => undefined }), entry('f', { inputSchema: nothing })]);
    const [good, bad] = [await one('t'), await one('f')];
    expect(Object.keys(good).sort()).toEqual(['call', 'outcome', 'stepNumber']);
    expect(Object.keys(good.outcome).sort()).toEqual(['contentParts', 'durationMs', 'output', 'toolCallId', 'toolName']);
    expect(success(good).contentParts).toEqual([]);
    expect(failure(bad)).toMatchObject({ toolName: 'f', kind: 'invalid_input', recoverable: false, recoveryHint: 'check_input' });
    for (const key of ['output', 'durationMs', 'contentParts']) expect(bad.outcome).not.toHaveProperty(key);
  });

  it('2.4: a handle names a spilled file and its producer', async () => {
    const spill = { artifactRoot: '/r', write: async () => ({ path: '/r/run-1/c.txt', bytes: 9 }) };
    const { one } = bench([entry('t', { maxResultTokens: 50, truncationStrategy: 'spill-to-file', execute: async () => 'word '.repeat(400) })], { spill });
    const { resultHandle } = success(await one('t'));
    expect(resultHandle).toMatchObject({
      uri: 'graphorin-spill:run-1/c.txt', kind: 'spill-file', bytes: 9, producerTrustClass: 'first-party-user-defined',
    });
    expect(resultHandle).not.toHaveProperty('mediaType');
    expect(typeof resultHandle?.preview).toBe('string');
  });

  it('2.7: an approval has four keys, the last one the time', async () => {
    const asked: Loose[] = [];
    const approvalGate = { request: async (_: unknown, approval: Loose) => (asked.push(approval), { granted: true as const }) };
    const { one } = bench([entry('t', { needsApproval: true })], { approvalGate } as never);
    success(await one('t', { a: 1 }));
    expect(Object.keys(asked[0]!).sort()).toEqual(['args', 'requestedAt', 'toolCallId', 'toolName']);
    const { requestedAt } = asked[0] as { requestedAt: string };
    expect(new Date(requestedAt).toISOString()).toBe(requestedAt);
  });

  it('2.8: of the run context only what is documented is read, and it is handed on by reference', async () => {
    const seen = new Set<PropertyKey>();
    let handed: unknown;
    const { executor, runContext } = bench([entry('t', { execute: async (_: unknown, ctx: Loose) => { handed = ctx['runContext']; return 'ok'; } })]);
    const watched = new Proxy(runContext, { get: (target, key) => (seen.add(key), Reflect.get(target, key) as unknown) });
    const record = await executor.executeOne({ call: call('t'), runContext: watched, stepNumber: 3 });
    expect([handed === watched, record.stepNumber]).toEqual([true, 3]);
    for (const key of ['deps', 'usage', 'messages', 'state', 'stepNumber', 'userId']) expect(seen).not.toContain(key);
  });

  it('2.10: events have these keys, and the end has the output', async () => {
    const streams = entry('t', {
      __streamingHint: true, streamingHint: true,
      execute: async (_: unknown, ctx: { reportProgress(n: number): void; streamContent(chunk: unknown): void }) => {
        ctx.reportProgress(1);
        ctx.streamContent({ kind: 'text', text: 'x' });
        return { a: 1 };
      },
    });
    const { one, events } = bench([streams, entry('f', { execute: async () => { throw new Error('x'); } })]);
    const output = success(await one('t')).output;
    await one('f');
    expect(events.map((event) => [event.type, Object.keys(event).filter((key) => key !== 'type').sort().join()])).toEqual([
      ['tool.execute.start', 'toolCallId'],
      ['tool.execute.progress', 'current,stepNumber,toolCallId,toolName,ts'],
      ['tool.execute.partial', 'chunk,chunkIndex,stepNumber,toolCallId,toolName,ts'],
      ['tool.execute.end', 'durationMs,result,toolCallId'],
      ['tool.execute.start', 'toolCallId'],
      ['tool.execute.error', 'error,toolCallId'],
    ]);
    expect((events[3] as unknown as Loose)['result']).toBe(output);
  });
});

describe('5 options of a call', () => {
  it.each([1, 'true', {}])('5.1: only the exact true counts, not %j', async (almost) => {
    const repair = { repair: vi.fn(async () => null) };
    const approvalGate = { request: vi.fn(async () => ({ granted: true as const })) };
    const { one } = bench([entry('bad', { inputSchema: nothing }), entry('gated', { needsApproval: true })], { repair, approvalGate });
    await one('bad', {}, { disableRepair: almost });
    await one('gated', {}, { preApproved: almost });
    expect([repair.repair.mock.calls.length, approvalGate.request.mock.calls.length]).toEqual([1, 1]);
  });

  it('4.2: a repair hears the name, the raw arguments, the error and the signal of the run', async () => {
    const heard: Loose[] = [];
    const repair = { repair: async (input: Loose) => (heard.push(input), null) };
    const { one, runContext } = bench([entry('bad', { inputSchema: nothing })], { repair } as never);
    const args = { a: 1 };
    await one('bad', args);
    expect(Object.keys(heard[0]!).sort()).toEqual(['invalidArgs', 'schemaError', 'signal', 'toolName']);
    expect(heard[0]!['invalidArgs']).toBe(args);
    expect(heard[0]!['signal']).toBe(runContext.signal);
    expect(heard[0]!['schemaError']).toMatchObject({ message: 'refused by schema' });
  });

  it('5.2: executeOne retries as a batch does', async () => {
    let tries = 0;
    const { one } = bench([entry('t', { execute: async () => { if ((tries += 1) < 3) throw refusal; return tries; } })]);
    expect(success(await one('t')).output).toBe(3);
  });
});

describe('6, 7 the funnel and the order', () => {
  it('6.2: the record is stamped, the error in the event is not', async () => {
    const { one, events } = bench([entry('f', { execute: async () => { throw new Error('x'); } })]);
    expect(failure(await one('f'))).toMatchObject({ recoverable: false, recoveryHint: 'try_alternative' });
    const { error } = events.at(-1) as unknown as { error: Loose };
    expect([error['kind'], 'recoverable' in error, 'recoveryHint' in error]).toEqual(['execution_failed', false, false]);
  });

  it('6.4: the error row, then its counter', async () => {
    let counted: number | undefined;
    const key = 'tool.executor.errors.total{kind=unknown_tool,toolName=nope}';
    const rows: unknown[] = [];
    const { one } = bench([], { emitAudit: (row) => { counted = counters()[key]; rows.push(row); } });
    const record = await one('nope');
    expect(rows).toEqual([{
      action: 'tool:execute:error', actor: { kind: 'tool', id: 'nope' }, target: 'nope', decision: 'error', ts: expect.any(Number),
      context: expect.objectContaining({ runId: 'run-1', stepNumber: 3, toolCallId: record.call.toolCallId }),
      metadata: { kind: 'unknown_tool' },
    }]);
    expect([counted, counters()[key]]).toEqual([undefined, 1]);
  });

  it('7.0: only dispatch looks at an aborted run: schema, hook, gate and the tool itself are asked', async () => {
    const asked: string[] = [];
    const say = <T>(what: string, value: T): T => (asked.push(what), value);
    const controller = new AbortController();
    controller.abort();
    const { executor, runContext } = bench(
      [entry('t', {
        needsApproval: true,
        inputSchema: { ...anything, safeParse: (data: unknown) => say('schema', { success: true, data }) },
        execute: async () => say('execute', 'late'),
      })],
      { permissionHook: () => say('hook', { decision: 'allow' as const }), approvalGate: { request: async () => say('gate', { granted: true as const }) } },
    );
    const record = await executor.executeOne({ call: call('t'), runContext: { ...runContext, signal: controller.signal }, stepNumber: 3 });
    expect([asked, failure(record).kind]).toEqual([['schema', 'hook', 'gate', 'execute'], 'aborted']);
  });

  it('16: what a plain success and a failure are counted under', async () => {
    const { one } = bench([entry('t'), entry('f', { execute: async () => { throw new Error('x'); } })]);
    await one('t');
    await one('f');
    expect(counters()).toEqual({
      'tool.executor.invocations.total{toolName=t}': 1,
      'tool.executor.invocations.total{toolName=f}': 1,
      'tool.executor.errors.total{kind=execution_failed,toolName=f}': 1,
    });
    expect(histogram('tool.executor.duration_ms{toolName=t}')).toHaveLength(1);
    expect(histogram('tool.executor.duration_ms{toolName=f}')).toHaveLength(1);
    expect(histogram('tool.result.size.tokens{toolName=t}')).toEqual([1]);
  });

  it('19: every party of a repaired, rewritten and transformed call sees its own view', async () => {
    const saw: Loose = {};
    const see = <T>(who: string, what: unknown, answer: T): T => ((saw[who] = what), answer);
    const inputSchema = {
      ...anything,
      safeParse: (data: Loose) =>
        typeof data['n'] === 'number'
          ? { success: true, data: { doubled: 2 * data['n'] } }
          : { success: false, error: { name: 'E', message: 'no number', issues: [] } },
    };
    const tool = entry('t', {
      inputSchema, __sideEffectClass: 'external-stateful',
      needsApproval: (input: unknown) => see('predicate', input, true),
      idempotencyKey: (input: unknown) => see('key', input, 'k'),
      execute: async (input: unknown) => see('tool', input, toolReturn({ output: 'said' })),
    });
    const { executor, runContext } = bench([tool], {
      repair: { repair: async ({ invalidArgs }: Loose) => see('repair', invalidArgs, { n: 1 }) },
      permissionHook: ({ call: wire, validatedInput }: Loose) =>
        see('hook', [(wire as ToolCall).args, validatedInput], { decision: 'allow', updatedInput: { n: 5 } }),
      approvalGate: { request: async (wire: ToolCall, { args }: Loose) => see('gate', [wire.args, args], { granted: true }) },
      argumentPolicy: { evaluate: ({ args }: Loose) => see('policy', args, { effect: 'allow' }) },
      dataFlowGuard: {
        inspect: ({ args }: Loose) => see('inspect', args, { action: 'allow' }),
        record: ({ outputText }: Loose) => see('record', outputText, undefined),
      },
    } as never);
    const raw = { n: 'one' };
    const record: CompletedToolCall = await executor.executeOne({ call: { ...call('t'), args: raw }, runContext, stepNumber: 3 });
    expect(success(record).output).toBe('said');
    expect(saw).toEqual({
      repair: raw, hook: [raw, { doubled: 2 }], predicate: { doubled: 10 }, gate: [raw, { n: 5 }], policy: { doubled: 10 },
      inspect: { n: 5 }, key: { doubled: 10 }, tool: { doubled: 10 }, record: 'said',
    });
    expect(record.call.args).toBe(raw);
  });
});
