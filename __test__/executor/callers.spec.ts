/** What callers assume (spec 04 section 9), point by point as far as the executor is concerned. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { getCounterForTesting, onToolAudit } from 'ferrule/audit';
import { createToolExecutor, ToolRateLimitError } from 'ferrule/executor';
import * as executorRoom from 'ferrule/executor';
import * as errorsRoom from 'ferrule/errors';
import { countTokensHeuristic } from 'ferrule/result';
import { getActiveToolSecretsContext, withToolSecretsContext } from 'ferrule/secrets';
import * as root from 'ferrule';
import { bench, call, deferred, entry, failure, recordingTracer, registryOf, run, sleep, success, type Loose } from './kit.js';

const store = new AsyncLocalStorage<string>();
const here = (): string => store.getStore() ?? 'outside';
type Ctx = { signal: AbortSignal; streamContent(chunk: unknown): void; reportProgress(n: number): void };

describe('9.1 async context', () => {
  it('point 1: everything of a call runs in its caller\'s context; interleaved calls never see each other\'s', async () => {
    const seen: [string, string, string][] = [];
    const note = (id: string, what: string): void => { seen.push([id, what, here()]); };
    const idOf = (input: unknown): string => (input as { id: string }).id;
    const snapshot = { digest: [], durationUs: 1 };
    const memo = new Map<string, string>();
    const who = (toolCallId: string): string => memo.get(toolCallId) ?? '?';
    const executor = createToolExecutor({
      registry: registryOf([entry('t', {
        __sideEffectClass: 'side-effecting', streamingHint: true,
        inputSchema: { parse: (x: unknown) => x, safeParse: (data: unknown) => { note(idOf(data), 'schema'); return { success: true, data }; } },
        outputSchema: { parse: (x: unknown) => x, safeParse: (data: unknown) => { note(idOf(data), 'outputSchema'); return { success: true, data }; } },
        needsApproval: async (input: unknown) => { note(idOf(input), 'predicate'); await sleep(1); return true; },
        idempotencyKey: async (input: unknown) => { await sleep(1); note(idOf(input), 'key'); return idOf(input); },
        execute: async (input: unknown, ctx: Ctx) => {
          note(idOf(input), 'execute');
          await sleep(idOf(input) === 'a' ? 8 : 3);
          note(idOf(input), 'execute after await');
          await new Promise<void>((resolve) => setTimeout(() => { note(idOf(input), 'timer'); resolve(); }, 1));
          ctx.reportProgress(1);
          return input;
        },
      })]) as never,
      emitAudit: (row) => note(who((row.context as Loose)['toolCallId'] as string), `row ${row.action}`),
      streamingSink: (event) => note(who(event.toolCallId), `event ${event.type}`),
      permissionHook: async ({ validatedInput }) => { note(idOf(validatedInput), 'hook'); await sleep(2); return { decision: 'allow' }; },
      approvalGate: { request: async ({ args }) => { note(idOf(args), 'gate'); await sleep(2); return { granted: true }; } },
      argumentPolicy: { evaluate: ({ args }) => { note(idOf(args), 'policy'); return { effect: 'allow' }; } },
      dataFlowGuard: {
        inspect: ({ args }) => { note(idOf(args), 'inspect'); return { action: 'allow' }; },
        record: ({ outputText }) => { note(idOf(JSON.parse(outputText)), 'record'); },
      },
      memoryGuardFactory: (tier) => ({ tier, snapshot: async () => { await sleep(1); return snapshot; }, verify: async () => { await sleep(1); return { ok: true as const, tier, snapshot, verifyDurationUs: 1 }; } }),
      memoryRegionReader: { regions: [], read: async () => '' },
      tokenCounter: { count: (text) => { note(idOf(JSON.parse(text)), 'counter'); return 1; } },
    });
    const start = (id: string) => store.run(id, () => {
      const wire = call('t', { id });
      memo.set(wire.toolCallId, id);
      return executor.executeOne({ call: wire, runContext: run({ tracer: recordingTracer() }), stepNumber: 1 }).then(() => note(id, 'after'));
    });
    await Promise.all(['a', 'b', 'c'].map(start));
    expect(seen.filter(([id, , context]) => id !== context)).toEqual([]);
    const kinds = new Set(seen.filter(([id]) => id === 'a').map(([, what]) => what));
    for (const what of ['schema', 'outputSchema', 'predicate', 'key', 'execute', 'execute after await', 'timer', 'hook', 'gate', 'policy', 'inspect', 'record', 'counter', 'row tool:execute:end', 'event tool.execute.end', 'event tool.execute.progress']) {
      expect(kinds).toContain(what);
    }
  });

  it('point 1: every call of a batch, queued ones too, runs in the batch\'s context', async () => {
    const seen: string[] = [];
    const b = bench([entry('t', { execute: async ({ ms }: { ms: number }) => { seen.push(here()); await store.run('inner', () => sleep(ms)); seen.push(here()); } }), entry('s', { executionMode: 'sequential', execute: async () => { seen.push(here()); await sleep(1); } })], { maxParallelTools: 2 });
    await Promise.all(['x', 'y'].map((id) => store.run(id, () => b.batch([...['s', 's'], ...[3, 1, 2, 1, 1].map((ms) => call('t', { ms }))]))));
    expect(seen.filter((id) => id === 'x')).toHaveLength(12);
    expect(seen.filter((id) => id === 'y')).toHaveLength(12);
  });

  it('point 1: an abort, a limit and a pause that come from another context', async () => {
    const seen: string[] = [];
    const options = {
      streamingSink: (event: { type: string }) => { seen.push(`${event.type} ${here()}`); },
      emitAudit: (row: { action: string }) => { seen.push(`${row.action} ${here()}`); },
      cancellationGraceMs: 3,
    };
    const controller = new AbortController();
    const b = bench([entry('t', { execute: () => new Promise(() => {}) }), entry('limited', { execute: async () => { throw new ToolRateLimitError('x', { retryAfterMs: 60_000 }); } }), entry('gated', { needsApproval: true })], { ...options, approvalGate: { request: () => new Promise(() => {}) } } as never);
    const done = store.run('caller', () => b.batch(['t', 'limited', 'gated', 't'], { runContext: { ...b.runContext, signal: controller.signal } }));
    await store.run('aborter', async () => { await sleep(5); controller.abort(); });
    await done;
    expect(seen.length).toBeGreaterThan(6);
    expect(seen.filter((line) => !line.endsWith(' caller'))).toEqual([]);

    seen.length = 0;
    const timed = bench([entry('t', { execute: () => new Promise(() => {}) })], { ...options, inlineToolTimeoutMs: 5 } as never);
    await store.run('caller', () => timed.batch(['t', 't']));
    expect(seen.filter((line) => !line.endsWith(' caller'))).toEqual([]);
  });

  it('point 2: the body runs in the context the tracer opens; span resolves to the record; later calls are not in it', async () => {
    const inner = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const resolved: unknown[] = [];
    const stock = recordingTracer();
    for (const early of [false, true]) {
      seen.length = 0;
      const tracer = {
        async span(options: Loose, fn: (span: unknown) => Promise<unknown>) {
          const id = (options['attrs'] as Loose)['graphorin.tool.call_id'] as string;
          const record = inner.run(id, () => fn(stock.startSpan(options)));
          if (early) { void record.then((value) => resolved.push(value)); return undefined; }
          const value = await record;
          resolved.push(value);
          return value;
        },
      };
      const b = bench([entry('t', {
        inputSchema: { parse: (x: unknown) => x, safeParse: (data: unknown) => { seen.push(inner.getStore()); return { success: true, data }; } },
        execute: async (_: unknown, ctx: Loose) => { await sleep(1); seen.push(inner.getStore() === ctx['toolCallId']); },
      })], { maxParallelTools: 1, registry: { get(name: string) { seen.push(`get ${String(inner.getStore())}`); return name === 't' ? tool : undefined; } } } as never);
      const tool = entry('t', { execute: async (_: unknown, ctx: Loose) => { await sleep(1); seen.push(inner.getStore() === ctx['toolCallId']); } });
      const records = await b.batch([call('t', {}, 'one'), call('t', {}, 'two'), call('t', {}, 'three')], { runContext: { ...b.runContext, tracer } });
      expect(seen.filter((value) => value === true)).toHaveLength(3);
      expect(seen.filter((value) => value === false)).toEqual([]);
      // A queued call is looked up outside the context of the call before it.
      expect(seen.filter((value) => typeof value === 'string' && value.startsWith('get ') && value !== 'get undefined')).toEqual([]);
      expect(records.every((record) => resolved.includes(record))).toBe(true);
    }
  });

  it('point 3: the scope of a tool is a child of the scope its caller is in', async () => {
    let scope: ReturnType<typeof getActiveToolSecretsContext>;
    const b = bench([entry('t', { secretsAllowed: ['A', 'B'], execute: async () => { await sleep(1); scope = getActiveToolSecretsContext(); } })]);
    await withToolSecretsContext({ toolName: 'outer', secretsAllowed: ['B', 'C'] }, () => b.one('t'));
    expect(scope).toMatchObject({ toolName: 't', secretsAllowed: ['B'], parent: { toolName: 'outer' } });
    expect(getActiveToolSecretsContext()).toBeUndefined();
  });
});

describe('9.2 values travel by reference', () => {
  it('points 4, 24: entries are used as they are, symbol keys and all', async () => {
    const brand = Symbol.for('graphorin.SubAgentTool');
    const tool = Object.freeze({ ...entry('t', { execute(this: Loose & { [brand]?: unknown }) { return Promise.resolve(this[brand]); } }), [brand]: 'agent' });
    const b = bench([tool as never]);
    expect(success(await b.one('t')).output).toBe('agent');
  });

  it('point 6: one run context, never cloned', async () => {
    const seen = new Set<unknown>();
    const b = bench([entry('t', { __sideEffectClass: 'side-effecting', needsApproval: (_: unknown, ctx: Loose) => { seen.add(ctx['runContext']); return false; }, execute: async (_: unknown, ctx: Loose) => { seen.add(ctx['runContext']); } })], {
      permissionHook: ({ runContext }) => { seen.add(runContext); return { decision: 'allow' }; },
      dataFlowGuard: { inspect: ({ runContext }) => { seen.add(runContext); return { action: 'allow' }; }, record: ({ runContext }) => { seen.add(runContext); } },
    });
    await b.one('t');
    expect([...seen]).toEqual([b.runContext]);
  });

  it('point 7: arguments, outputs, parts and thrown values keep identity', async () => {
    const args = { bytes: new Uint8Array([1]), url: new URL('http://x.test'), big: 1n, fn: () => {} };
    const output = new Map([[args, 1]]);
    let given: unknown;
    const b = bench([entry('t', { execute: async (input: unknown) => { given = input; return output; } }), entry('f', { execute: async () => { throw args; } }), entry('p', { execute: async () => ({ output: 'x', contentParts: [{ type: 'image', image: args.url }, { type: 'file', file: args.bytes, mimeType: 'a/b' }] }) })]);
    expect(success(await b.one('t', args)).output).toBe(output);
    expect(given).toBe(args);
    expect(failure(await b.one('f')).cause).toBe(args);
    const { contentParts } = success(await b.one('p'));
    expect((contentParts![0] as { image: unknown }).image).toBe(args.url);
    expect((contentParts![1] as { file: unknown }).file).toBe(args.bytes);
  });

  it('point 8: the caller\'s calls are not frozen, changed or kept', async () => {
    const b = bench([entry('t')]);
    const wire = { ...call('t', { a: 1 }) };
    const copy = structuredClone(wire);
    await b.batch([wire]);
    expect(wire).toEqual(copy);
    expect(Object.isFrozen(wire)).toBe(false);
    wire.toolName = 'changed';
  });

  it('point 9: countTokensHeuristic is one object everywhere, and may be handed back', async () => {
    expect((root as Loose)['countTokensHeuristic'] ?? countTokensHeuristic).toBe(countTokensHeuristic);
    success(await bench([entry('t')], { tokenCounter: countTokensHeuristic }).one('t'));
  });

  it('point 10: peers may be patched later', async () => {
    const gate = { request: async () => ({ granted: false as boolean }) };
    const b = bench([entry('t', { needsApproval: true })], { approvalGate: gate as never });
    expect(failure(await b.one('t')).kind).toBe('approval_denied');
    gate.request = async () => ({ granted: true });
    success(await b.one('t'));
  });
});

describe('9.3 plain objects', () => {
  it('points 11, 12, 14: no kind on success, no output on failure; ordinary objects; content parts always there', async () => {
    const b = bench([entry('t', { execute: async () => undefined }), entry('f', { execute: async () => { throw new Error('x'); } })]);
    const [ok, bad] = await b.batch(['t', 'f']);
    expect('kind' in ok!.outcome).toBe(false);
    expect('output' in ok!.outcome).toBe(true);
    expect('output' in bad!.outcome).toBe(false);
    expect(Object.getPrototypeOf(ok!.outcome)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(bad!.outcome)).toBe(Object.prototype);
    expect(success(ok!).contentParts).toEqual([]);
    expect(Array.isArray(await b.batch(['t']))).toBe(true);
    expect({ ...bad!.outcome }).toEqual(bad!.outcome);
  });

  it('point 13: records pass through JSON, also with causes of our making', async () => {
    const b = bench([entry('slow', { execute: () => new Promise(() => {}) })], { inlineToolTimeoutMs: 5, sandboxResolver: () => null });
    const record = await b.one('slow');
    expect(JSON.parse(JSON.stringify(record))).toMatchObject({ outcome: { kind: 'timeout', cause: { limitMs: 5 } } });
  });

  it('point 15: durations are fractional, keys are sorted', async () => {
    const b = bench([entry('t', { execute: () => sleep(2) })]);
    expect(success(await b.one('t')).durationMs % 1).not.toBe(0);
    await bench([]).one('nope');
    expect(getCounterForTesting('tool.executor.errors.total', { toolName: 'nope', kind: 'unknown_tool' })).toBe(1);
  });
});

describe('9.4 what is synchronous', () => {
  it('point 16: an executor is made at once and used at once', () => {
    expect(typeof createToolExecutor({ registry: registryOf([]) as never }).executeOne).toBe('function');
  });

  it('point 18: rows, events and provenance happen there and then', async () => {
    const log: string[] = [];
    const b = bench([entry('t', { streamingHint: true, execute: async (_: unknown, ctx: Ctx) => {
      log.push('before');
      ctx.streamContent({ kind: 'text', text: 'x' });
      log.push('after');
    } })], { streamingSink: (event) => { log.push(event.type); } });
    await b.one('t');
    expect(log).toEqual(['tool.execute.start', 'before', 'tool.execute.partial', 'after', 'tool.execute.end']);
  });

  it('point 18: a sink may call back into the executor', async () => {
    const inner: unknown[] = [];
    const b = bench([entry('t'), entry('u')], { streamingSink: (event) => {
      if (event.type === 'tool.execute.start' && inner.length === 0) {
        inner.push('started');
        void b.one('u').then((record) => inner.push(success(record).output));
      }
    } });
    success(await b.one('t'));
    await sleep(5);
    expect(inner).toEqual(['started', 'ok']);
  });

  it.each([undefined, null, {}, { calls: 5 }, { call: null }, { calls: [null] }, { calls: { [Symbol.iterator]: () => { throw new Error('x'); } } }])('point 19: %j gives a promise, never a throw', async (opts) => {
    const b = bench([entry('t')]);
    const methods = [b.executor.executeOne, b.executor.executeBatch] as unknown as ((opts: unknown) => Promise<unknown>)[];
    for (const method of methods) {
      const promise = method(opts);
      expect(promise).toBeInstanceOf(Promise);
      await promise.catch(() => {});
    }
  });
});

describe('9.5 order and time', () => {
  it('point 20: before the promise comes back: looked up, counted, span opened, arguments validated', async () => {
    const log: string[] = [];
    const map = new Map([['t', entry('t', { inputSchema: { parse: (x: unknown) => x, safeParse: (data: unknown) => { log.push('parsed'); return { success: true, data }; } } })]]);
    const b = bench([], { registry: { get: (name: string) => map.get(name) } as never });
    const known = b.one('t');
    expect(log).toEqual(['parsed']);
    expect(b.tracer.spans).toHaveLength(1);
    expect(getCounterForTesting('tool.executor.invocations.total', { toolName: 't' })).toBe(1);
    const late = b.one('late');
    map.set('late', map.get('t')!);
    map.delete('t');
    success(await known);
    expect(failure(await late).kind).toBe('unknown_tool');
  });

  it('point 21: execute is entered without a timer, immediate or I/O turn in between, in call order', async () => {
    const entered: unknown[] = [];
    const b = bench([entry('t', { execute: async ({ at }: { at: number }) => { entered.push(at); } })]);
    let macro = false;
    setImmediate(() => { macro = true; });
    setTimeout(() => { macro = true; }, 0);
    const done = b.batch([0, 1, 2, 3].map((at) => call('t', { at })));
    for (let turns = 0; turns < 12 && entered.length < 4; turns += 1) await Promise.resolve();
    expect(entered).toEqual([0, 1, 2, 3]);
    expect(macro).toBe(false);
    await done;
    // The end of a trivial call comes as fast.
    let ended = false;
    macro = false;
    setImmediate(() => { macro = true; });
    void b.one('t', { at: 9 }).then(() => { ended = true; });
    for (let turns = 0; turns < 40 && !ended; turns += 1) await Promise.resolve();
    expect([ended, macro]).toEqual([true, false]);
  });

  it('point 21: execute is not entered before the caller has its promise', () => {
    const execute = vi.fn(async () => 'ok');
    const b = bench([entry('t', { execute })]);
    const done = b.one('t');
    expect(execute).not.toHaveBeenCalled();
    return done;
  });

  it('point 22: no event after the promise settled, also when an abandoned tool goes on', async () => {
    const gate = deferred();
    const b = bench([entry('t', { streamingHint: true, execute: async (_: unknown, ctx: Ctx) => { await gate.promise; ctx.reportProgress(1); ctx.streamContent({ kind: 'text', text: 'x' }); } })], { inlineToolTimeoutMs: 5 });
    await b.one('t');
    const count = b.events.length;
    expect(b.events.at(-1)!.type).toBe('tool.execute.error');
    gate.resolve();
    await sleep(3);
    expect(b.events).toHaveLength(count);
  });

  it('point 23: calls of one batch overlap', async () => {
    const both = [deferred(), deferred()];
    const b = bench([entry('t', { execute: async ({ at }: { at: number }) => { both[at]!.resolve(); await both[1 - at]!.promise; return at; } })]);
    expect((await b.batch([call('t', { at: 0 }), call('t', { at: 1 })])).map((record) => success(record).output)).toEqual([0, 1]);
  });
});

describe('9.6 live state', () => {
  it('point 24: the registry is asked at each call, as a method', async () => {
    const map = new Map<string, unknown>();
    const registry = { get(this: unknown, name: string) { expect(this).toBe(registry); return map.get(name); } };
    const executor = createToolExecutor({ registry: registry as never });
    const one = () => executor.executeOne({ call: call('t'), runContext: run(), stepNumber: 1 });
    expect(failure(await one()).kind).toBe('unknown_tool');
    map.set('t', entry('t'));
    success(await one());
  });

  it('point 25: one executor serves nested calls', async () => {
    const b: ReturnType<typeof bench> = bench([entry('inner', { execute: async ({ n }: { n: number }) => n + 1 }), entry('outer', { execute: async ({ n }: { n: number }) => success(await b.one('inner', { n })).output })], { maxParallelTools: 1 });
    const records = await b.batch([1, 2, 3].map((n) => call('outer', { n })));
    expect(records.map((record) => success(record).output)).toEqual([2, 3, 4]);
  });

  it('point 26: thousands of executors are cheap', async () => {
    const registry = registryOf([entry('t')]) as never;
    const started = performance.now();
    for (let at = 0; at < 2_000; at += 1) createToolExecutor({ registry, spill: { artifactRoot: '/x', write: async () => ({ path: '/x/y', bytes: 1 }) } as never });
    expect(performance.now() - started).toBeLessThan(1_500);
  });
});

describe('9.7 functions and `this`', () => {
  it('point 27: user functions are called as methods of the object they came with, plain hooks without', async () => {
    const wrong: string[] = [];
    const method = (owner: () => unknown, name: string, answer: unknown) => function (this: unknown) { if (this !== owner()) wrong.push(name); return answer; };
    const snapshot = { digest: [], durationUs: 1 };
    const schema: Loose = { parse: (x: unknown) => x };
    schema['safeParse'] = function (this: unknown, data: unknown) { if (this !== schema) wrong.push('safeParse'); return (data as Loose)['bad'] ? { success: false, error: { message: 'x' } } : { success: true, data }; };
    const output: Loose = { parse: (x: unknown) => x };
    output['safeParse'] = function (this: unknown, data: unknown) { if (this !== output) wrong.push('output.safeParse'); return { success: true, data }; };
    const tool = entry('t', {
      __sideEffectClass: 'side-effecting', inputSchema: schema, outputSchema: output, maxResultTokens: 60, truncationStrategy: 'summarize',
      needsApproval: method(() => tool, 'needsApproval', true), idempotencyKey: method(() => tool, 'idempotencyKey', 'k'),
      execute: function (this: unknown) { if (this !== tool) wrong.push('execute'); return Promise.resolve('x'.repeat(2_000)); },
    });
    const gate: Loose = {}, policy: Loose = {}, repairer: Loose = {}, flow: Loose = {}, guard: Loose = { tier: 'unknown' }, summarizer: Loose = { model: 'm' }, counter: Loose = {}, tracer: Loose = {}, keep: Loose = {};
    gate['request'] = method(() => gate, 'gate', Promise.resolve({ granted: true }));
    policy['decide'] = method(() => policy, 'decide', { effect: 'allow' });
    policy['evaluate'] = method(() => policy, 'evaluate', { effect: 'allow' });
    policy['deniesName'] = method(() => policy, 'deniesName', { denied: false });
    repairer['repair'] = method(() => repairer, 'repair', Promise.resolve({}));
    flow['inspect'] = method(() => flow, 'inspect', { action: 'allow' });
    flow['record'] = method(() => flow, 'record', undefined);
    guard['snapshot'] = method(() => guard, 'snapshot', Promise.resolve(snapshot));
    guard['verify'] = method(() => guard, 'verify', Promise.resolve({ ok: true, tier: 'unknown', snapshot, verifyDurationUs: 1 }));
    summarizer['summarize'] = method(() => summarizer, 'summarize', Promise.resolve('short'));
    counter['count'] = function (this: unknown, text: string) { if (this !== counter) wrong.push('count'); return text.length / 4; };
    keep['get'] = method(() => keep, 'store.get', undefined);
    keep['set'] = method(() => keep, 'store.set', undefined);
    const inert = { setAttributes: () => {}, addEvent: () => {}, setStatus: () => {}, recordException: () => {} };
    tracer['span'] = function (this: unknown, _: unknown, fn: (span: unknown) => unknown) { if (this !== tracer) wrong.push('span'); return fn(inert); };
    const b = bench([tool], {
      approvalGate: gate, argumentPolicy: policy, repair: repairer, dataFlowGuard: flow, memoryGuardFactory: () => guard, memoryRegionReader: { regions: [], read: async () => '' },
      summarizer, tokenCounter: counter, idempotencyStore: keep,
      permissionHook: function (this: unknown) { if (this !== undefined) wrong.push('permissionHook'); return { decision: 'allow' }; },
    } as never);
    const record = await b.one('t', { bad: true }, { runContext: { ...b.runContext, tracer } });
    expect(success(record).output).toContain('short');
    expect(wrong).toEqual([]);
  });
});

describe('9.8 errors', () => {
  it('points 29, 30: one class per name, whichever subpath', async () => {
    expect(executorRoom.ToolRateLimitError).toBe((errorsRoom as Loose)['ToolRateLimitError'] ?? executorRoom.ToolRateLimitError);
    const error = new ToolRateLimitError('x', { retryAfterMs: 5 });
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf((errorsRoom as Loose)['GraphorinToolsError'] as never);
    expect(error).toMatchObject({ name: 'ToolRateLimitError', kind: 'rate-limited', message: 'x', retryAfterMs: 5 });
    expect(error.hint).toBeUndefined();
    expect(new ToolRateLimitError('x').retryAfterMs).toBeUndefined();
  });

  it('1.1: the entry point exports exactly three values', () => {
    expect(Object.keys(executorRoom).sort()).toEqual(['ToolRateLimitError', 'buildToolExecutionContext', 'createToolExecutor']);
  });

  it('point 31: nothing is left rejecting unobserved', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const late = deferred<never>();
    const b = bench([
      entry('late', { execute: () => late.promise }), entry('f', { execute: async () => { throw new Error('x'); } }),
      entry('secret', { execute: async (_: unknown, ctx: { secrets: { require(key: string): Promise<unknown> } }) => { void ctx.secrets.require('NOPE'); return 1; } }),
    ], { inlineToolTimeoutMs: 5 });
    const tracer = { span: (_: unknown, fn: (span: unknown) => unknown) => { void fn({ setAttributes() {}, addEvent() {}, setStatus() {}, recordException() {} }); return Promise.resolve(); } };
    await b.batch(['late', 'f', 'secret'], { runContext: { ...b.runContext, tracer } });
    await b.batch(['late', 'f', 'secret']);
    late.reject(new Error('far too late'));
    await sleep(10);
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe('9.9 clocks, signals', () => {
  afterEach(() => vi.useRealTimers());

  it('point 32: fake timers govern limit, grace and back-off, found at the moment of use', async () => {
    const controller = new AbortController();
    const b = bench([entry('never', { execute: () => new Promise(() => {}) }), entry('busy', { execute: async () => { throw new ToolRateLimitError('x'); } })], { inlineToolTimeoutMs: 100_000, cancellationGraceMs: 50_000 });
    vi.useFakeTimers();
    let settled = 0;
    const started = Date.now();
    void b.one('never').then(() => { settled += 1; });
    void b.one('busy').then(() => { settled += 1; });
    void b.one('never', {}, { runContext: { ...b.runContext, signal: controller.signal } }).then(() => { settled += 1; });
    await vi.advanceTimersByTimeAsync(750);
    expect(settled).toBe(1);
    controller.abort();
    await vi.advanceTimersByTimeAsync(49_999);
    expect(settled).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(settled).toBe(2);
    await vi.advanceTimersByTimeAsync(50_000);
    expect(settled).toBe(3);
    expect(Date.now() - started).toBeGreaterThanOrEqual(100_000);
    expect(vi.getTimerCount()).toBe(0);
    expect(b.rows.every((row) => row.ts >= started)).toBe(true);
  });

  it('point 34: a signal is used through add and remove only, aborted read fresh', async () => {
    let aborted = false;
    const listeners = new Set<() => void>();
    const signal = { get aborted() { return aborted; }, addEventListener: (_: string, fn: () => void) => { listeners.add(fn); }, removeEventListener: (_: string, fn: () => void) => { listeners.delete(fn); } };
    const b = bench([entry('t', { execute: () => new Promise(() => {}) }), entry('ok')], { cancellationGraceMs: 1 });
    const runContext = { ...b.runContext, signal };
    success(await b.one('ok', {}, { runContext }));
    expect(listeners.size).toBe(0);
    const done = b.one('t', {}, { runContext });
    await sleep(1);
    aborted = true;
    for (const listener of [...listeners]) listener();
    expect(failure(await done).kind).toBe('aborted');
    expect(listeners.size).toBe(0);
    // 2.8: a run without a signal works too.
    success(await b.one('ok', {}, { runContext: { ...b.runContext, signal: undefined } }));
  });
});

describe('9.10 the process', () => {
  it('point 36: counts and rows are visible to the very next line', async () => {
    const executor = createToolExecutor({ registry: registryOf([entry('t')]) as never });
    const rows: string[] = [];
    const b = bench([]);
    onToolAudit((row) => rows.push(row.action));
    const done = executor.executeOne({ call: call('unknown'), runContext: b.runContext, stepNumber: 1 });
    expect(rows).toEqual(['tool:execute:error']);
    expect(getCounterForTesting('tool.executor.errors.total', { toolName: 'unknown', kind: 'unknown_tool' })).toBe(1);
    await done;
  });
});
