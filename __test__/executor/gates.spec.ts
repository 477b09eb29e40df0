/** Validation, permission, approval, argument policy, data flow (spec 02 sections 7.5 to 7.9, 19, Appendix C). */
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod3';
import { bench, call, counters, countedSignal, entry, failure, nothing, success, type Loose } from './kit.js';

const echo = (fields: Loose = {}) => {
  const seen: unknown[] = [];
  const tool = entry('t', { execute: async (input: unknown) => { seen.push(input); return 'ran'; }, ...fields });
  return { tool, seen };
};

describe('7.5 validation', () => {
  it.each([['zod 4', z], ['zod 3', z3 as unknown as typeof z]])('%s: defaults and transforms reach the tool, the record keeps the raw args', async (_name, lib) => {
    const { tool, seen } = echo({ inputSchema: lib.object({ n: lib.string().transform(Number), city: lib.string().default('Bern') }) });
    const b = bench([tool]);
    const args = { n: '3' };
    const record = await b.one('t', args);
    success(record);
    expect(seen).toEqual([{ n: 3, city: 'Bern' }]);
    expect(record.call.args).toBe(args);
  });

  it.each([['zod 4', z], ['zod 3', z3 as unknown as typeof z]])('%s: an async refinement works', async (_name, lib) => {
    const { tool, seen } = echo({ inputSchema: lib.object({ n: lib.number().refine(async (n: number) => n > 1, 'too small') }) });
    const b = bench([tool]);
    success(await b.one('t', { n: 2 }));
    expect(failure(await b.one('t', { n: 1 }))).toMatchObject({ kind: 'invalid_input', message: expect.stringContaining('too small') });
    expect(seen).toEqual([{ n: 2 }]);
  });

  it('a Standard Schema, sync and async', async () => {
    const schema = (wait: boolean) => ({ '~standard': { version: 1, vendor: 'x', validate: (value: Loose) => {
      const result = value['n'] === 1 ? { value: { n: 'one' } } : { issues: [{ message: 'not one', path: ['n'] }] };
      return wait ? Promise.resolve(result) : result;
    } } });
    for (const wait of [false, true]) {
      const { tool, seen } = echo({ inputSchema: schema(wait) });
      const b = bench([tool]);
      success(await b.one('t', { n: 1 }));
      expect(seen).toEqual([{ n: 'one' }]);
      expect(failure(await b.one('t', { n: 2 }))).toMatchObject({ kind: 'invalid_input', message: 'n: not one' });
    }
  });

  it('repair success: called once, with the raw args and the schema error; the record keeps the raw args', async () => {
    const schema = z.object({ n: z.number() });
    const { tool, seen } = echo({ inputSchema: schema, needsApproval: true });
    const gate = vi.fn(async (_call: unknown, _approval: { args: unknown }) => ({ granted: true as const }));
    const repaired = { n: 4 };
    const repair = vi.fn(async (_request: Loose) => repaired);
    const b = bench([tool], { repair: { repair } as never, approvalGate: { request: gate } as never });
    const args = { n: 'four' };
    const record = await b.one('t', args);
    success(record);
    expect(seen).toEqual([{ n: 4 }]);
    expect(repair).toHaveBeenCalledTimes(1);
    const request = repair.mock.calls[0]![0];
    expect(request).toMatchObject({ toolName: 't' });
    expect(request['invalidArgs']).toBe(args);
    expect(request['signal']).toBe(b.runContext.signal);
    expect((request['schemaError'] as { issues: unknown[] }).issues).toHaveLength(1);
    // 19: the gate sees the payload that executes, the record the wire call.
    expect(gate.mock.calls[0]![1].args).toBe(repaired);
    expect((gate.mock.calls[0]![0] as { args: unknown }).args).toBe(args);
    expect(record.call.args).toBe(args);
  });

  it('repair still invalid gives the second error; disableRepair never calls it', async () => {
    const schema = z.object({ n: z.number({ error: (issue) => `bad ${String(issue.input)}` }) });
    const repair = vi.fn(async () => ({ n: 'second' }));
    const b = bench([echo({ inputSchema: schema }).tool], { repair: { repair } as never });
    expect(failure(await b.one('t', { n: 'first' })).message).toContain('bad second');
    expect(repair).toHaveBeenCalledTimes(1);
    expect(failure(await b.one('t', { n: 'first' }, { disableRepair: true })).message).toContain('bad first');
    expect(repair).toHaveBeenCalledTimes(1);
    // 5.1: only the exact true disables it.
    await b.one('t', { n: 'first' }, { disableRepair: 1 });
    expect(repair).toHaveBeenCalledTimes(2);
  });

  it('invalid args never reach the hook, the gate or the policy', async () => {
    const spy = vi.fn();
    const b = bench([entry('t', { inputSchema: nothing, needsApproval: true, __sideEffectClass: 'side-effecting' })], {
      permissionHook: spy, approvalGate: { request: spy }, argumentPolicy: { evaluate: spy }, dataFlowGuard: { inspect: spy, record: spy },
    } as never);
    failure(await b.one('t'));
    expect(spy).not.toHaveBeenCalled();
  });
});

describe('7.6 permission hook', () => {
  it('allow: gets the input of 4.3 and runs before the gate', async () => {
    const order: string[] = [];
    const inputs: Loose[] = [];
    const b = bench([echo({ needsApproval: true, sensitivity: 'secret' }).tool, entry('bare')], {
      permissionHook: (input) => { order.push('hook'); inputs.push(input as never); return { decision: 'allow' }; },
      approvalGate: { request: async () => { order.push('gate'); return { granted: true }; } },
    });
    const wire = call('t', { a: 1 });
    await b.executor.executeOne({ call: wire, runContext: b.runContext, stepNumber: 1 });
    expect(order).toEqual(['hook', 'gate']);
    const [input] = inputs;
    expect(Object.keys(input!)).toEqual(['call', 'validatedInput', 'toolName', 'sideEffectClass', 'trustClass', 'sensitivity', 'runContext']);
    expect(input!['call']).toBe(wire);
    expect(input!['runContext']).toBe(b.runContext);
    await b.one('bare');
    expect('sensitivity' in inputs[1]!).toBe(false);
  });

  it('a rewrite replaces the executed input with defaults applied again, and everything after sees it', async () => {
    const { tool, seen } = echo({
      inputSchema: z.object({ path: z.string(), mode: z.string().default('r') }), __sideEffectClass: 'side-effecting',
      needsApproval: (input: unknown) => { predicate.push(input); return true; },
    });
    const predicate: unknown[] = [];
    const updated = { path: '/safe' };
    const gate = vi.fn(async (_call: unknown, _approval: { args: unknown }) => ({ granted: true as const }));
    const inspected: unknown[] = [];
    const policed: unknown[] = [];
    const b = bench([tool], {
      permissionHook: () => ({ decision: 'allow', updatedInput: updated }),
      approvalGate: { request: gate } as never,
      argumentPolicy: { evaluate: (facts) => { policed.push(facts.args); return { effect: 'allow' }; } },
      dataFlowGuard: { inspect: (input) => { inspected.push(input.args); return { action: 'allow' }; }, record: () => {} },
    });
    success(await b.one('t', { path: '/etc', mode: 'w' }));
    const parsed = { path: '/safe', mode: 'r' };
    expect(seen).toEqual([parsed]);
    expect(predicate).toEqual([parsed]);
    expect(policed).toEqual([parsed]);
    expect(inspected[0]).toBe(updated);
    expect(gate.mock.calls[0]![1].args).toBe(updated);
    expect(counters()['tool.executor.permission-rewritten.total{toolName=t}']).toBe(1);
    expect('metadata' in b.row('tool:permission:rewritten')!).toBe(false);
  });

  it('pre-approved: ask and defer pass, an identical echo passes unchanged, key order matters', async () => {
    for (const decision of ['ask', 'defer'] as const) {
      const b = bench([echo().tool], { permissionHook: () => ({ decision }) });
      success(await b.one('t', { a: 1 }, { preApproved: true }));
    }
    const { tool, seen } = echo();
    const b = bench([tool], { permissionHook: () => ({ decision: 'allow', updatedInput: { a: 1, b: 2 } }) });
    const args = { a: 1, b: 2 };
    success(await b.one('t', args, { preApproved: true }));
    expect(seen[0]).toBe(args);
    expect(failure(await b.one('t', { b: 2, a: 1 }, { preApproved: true })).kind).toBe('invalid_input');
    // 5.1: only the exact true means pre-approved.
    success(await b.one('t', { b: 2, a: 1 }, { preApproved: 'yes' }));
  });
});

describe('7.7 approval', () => {
  it('the gate gets the wire call and the approval record; rows once each', async () => {
    const gate = vi.fn(async (_call: unknown, _approval: Loose) => ({ granted: true as const }));
    const b = bench([echo({ needsApproval: true }).tool], { approvalGate: { request: gate } as never });
    const wire = call('t', { a: 1 });
    await b.executor.executeOne({ call: wire, runContext: b.runContext, stepNumber: 1 });
    expect(gate.mock.calls[0]![0]).toBe(wire);
    const approval = gate.mock.calls[0]![1];
    expect(Object.keys(approval)).toEqual(['toolCallId', 'toolName', 'args', 'requestedAt']);
    expect(approval['args']).toBe(wire.args);
    expect(new Date(approval['requestedAt'] as string).toISOString()).toBe(approval['requestedAt']);
    expect(b.actions().filter((action) => action.startsWith('tool:approval'))).toEqual(['tool:approval:requested', 'tool:approval:granted']);
  });

  it.each([['false'], ['no'], [1], [{}], [[]], ['true'], [undefined]])('7.7 a gate that grants %j does not grant', async (granted) => {
    const execute = vi.fn(async () => 'ran');
    const b = bench([entry('t', { needsApproval: true, execute })], { approvalGate: { request: async () => ({ granted, reason: 'as told' }) } } as never);
    expect(failure(await b.one('t'))).toMatchObject({ kind: 'approval_denied', message: 'Tool execution denied: as told.' });
    expect(execute).not.toHaveBeenCalled();
  });

  it('not consulted when the predicate says no, when pre-approved, when not asked for', async () => {
    const gate = vi.fn(async () => ({ granted: true as const }));
    const b = bench([echo({ needsApproval: () => 0 }).tool, entry('always', { needsApproval: true }), entry('never', { needsApproval: false })], {
      approvalGate: { request: gate } as never,
    });
    success(await b.one('t'));
    success(await b.one('never'));
    success(await b.one('always', {}, { preApproved: true }));
    expect(gate).not.toHaveBeenCalled();
    expect(b.actions().filter((action) => action.includes('approval'))).toEqual([]);
  });

  it('the predicate sees the transformed input, awaits, and goes by truthiness', async () => {
    const seen: unknown[] = [];
    const b = bench([echo({ inputSchema: z.string().transform((text) => text.length), needsApproval: async (input: unknown) => {
      seen.push(input);
      return 'yes please';
    } }).tool], { approvalGate: { request: async () => ({ granted: false, reason: 'no' }) } });
    expect(failure(await b.one('t', 'four')).kind).toBe('approval_denied');
    expect(seen).toEqual([4]);
  });

  it('22 row 25: a nullish validated input gives the predicate the raw args, and only it', async () => {
    const predicate: unknown[] = [];
    const { tool, seen } = echo({ inputSchema: { parse: () => null, safeParse: () => ({ success: true, data: null }) }, needsApproval: (input: unknown) => { predicate.push(input); return false; } });
    const b = bench([tool]);
    const args = { raw: true };
    await b.one('t', args);
    expect(predicate[0]).toBe(args);
    expect(seen).toEqual([null]);
  });

  it('22 row 26: a predicate can stream before the start, with indexes of its own', async () => {
    type Ctx = { streamContent(chunk: unknown): void };
    const b = bench([entry('t', {
      streamingHint: true,
      needsApproval: (_: unknown, ctx: Ctx) => { ctx.streamContent({ kind: 'text', text: 'p' }); return false; },
      execute: async (_: unknown, ctx: Ctx) => { ctx.streamContent({ kind: 'text', text: 'x' }); },
    })]);
    expect(success(await b.one('t')).output).toBe('x');
    expect(b.events.map((event) => `${event.type} ${'chunkIndex' in event ? event.chunkIndex : ''}`)).toEqual([
      'tool.execute.partial 0', 'tool.execute.start ', 'tool.execute.partial 0', 'tool.execute.end ',
    ]);
  });

  it('13.4: 30 gated calls one after another leave no listener, also with predicates that throw', async () => {
    const { signal, listeners } = countedSignal();
    const b = bench([entry('t', { needsApproval: async () => true }), entry('bad', { needsApproval: () => { throw new Error('p'); } })], {
      approvalGate: { request: async () => ({ granted: true }) },
    });
    for (let at = 0; at < 30; at += 1) await b.batchOne(at % 3 === 0 ? 'bad' : 't', {}, { runContext: { ...b.runContext, signal } });
    expect(listeners()).toBe(0);
  });

  it('several calls wait in the gate at once, and keep their slots', async () => {
    let waiting = 0;
    let peak = 0;
    const b = bench([entry('t', { needsApproval: true })], {
      maxParallelTools: 3,
      approvalGate: { request: async () => {
        waiting += 1;
        peak = Math.max(peak, waiting);
        await new Promise((resolve) => setTimeout(resolve, 5));
        waiting -= 1;
        return { granted: true };
      } },
    });
    await b.batch(['t', 't', 't', 't', 't', 't']);
    expect(peak).toBe(3);
  });
});

describe('7.8 argument policy', () => {
  it('facts of 4.4; decide is preferred; evaluate alone works; ask passes when pre-approved', async () => {
    const facts: Loose[] = [];
    const b = bench([echo({ inputSchema: z.object({ n: z.number().default(1) }), sensitivity: 'secret' }).tool, entry('open', { sensitivity: 'internal' })], {
      argumentPolicy: { evaluate: (given) => { facts.push(given as never); return { effect: 'allow' }; } },
    });
    success(await b.one('t', {}));
    success(await b.one('open', {}));
    expect(facts[0]).toEqual({ toolName: 't', sideEffectClass: 'read-only', sensitive: true, trustClass: 'first-party-user-defined', args: { n: 1 } });
    expect(facts[1]!['sensitive']).toBe(false);

    const evaluate = vi.fn(() => ({ effect: 'forbid' as const, reason: 'no' }));
    const decided = bench([echo().tool], { argumentPolicy: { evaluate, decide: () => ({ effect: 'ask', reason: 'hm' }) } });
    success(await decided.one('t', {}, { preApproved: true }));
    expect(evaluate).not.toHaveBeenCalled();
  });

  it('7.2 name denial comes before validation and before the span, and gets the called name', async () => {
    const deniesName = vi.fn((name: string) => (name === 't' ? { denied: true as const, reason: 'never' } : { denied: false as const }));
    const b = bench([entry('t', { inputSchema: nothing }), entry('u')], { argumentPolicy: { evaluate: () => ({ effect: 'allow' }), deniesName } });
    expect(failure(await b.one('t')).kind).toBe('capability_blocked');
    success(await b.one('u'));
    expect(deniesName.mock.calls).toEqual([['t'], ['u']]);
  });

  it('7.3 readers pass a read-only run', async () => {
    const b = bench([entry('r'), entry('p', { __sideEffectClass: 'pure' })]);
    success(await b.one('r', {}, { capability: 'read-only' }));
    success(await b.one('p', {}, { capability: 'read-only' }));
  });
});

describe('7.9 data flow', () => {
  it('only sinks are inspected, every success is recorded', async () => {
    const inspected: string[] = [];
    const recorded: Loose[] = [];
    const b = bench([
      entry('pure', { __sideEffectClass: 'pure' }), entry('read'), entry('write', { __sideEffectClass: 'side-effecting', sensitivity: 'secret' }),
      entry('send', { __sideEffectClass: 'external-stateful', execute: async () => ({ output: { a: 1 }, taint: { sensitive: true } }) }),
      entry('fail', { __sideEffectClass: 'side-effecting', execute: async () => { throw new Error('x'); } }),
    ], {
      dataFlowGuard: {
        inspect: (input) => { inspected.push(input.toolName); return { action: 'allow' }; },
        record: (input) => { recorded.push(input as never); },
      },
    });
    for (const name of ['pure', 'read', 'write', 'send', 'fail']) await b.one(name);
    expect(inspected).toEqual(['write', 'send', 'fail']);
    expect(recorded.map((input) => input['toolName'])).toEqual(['pure', 'read', 'write', 'send']);
    expect(Object.keys(recorded[0]!)).toEqual(['toolName', 'trustClass', 'source', 'outputText', 'runContext']);
    expect(recorded[2]).toMatchObject({ sensitivity: 'secret', outputText: 'ok' });
    expect(recorded[3]).toMatchObject({ outputText: '{"a":1}', taintOverride: { sensitive: true } });
    expect(recorded[0]!['runContext']).toBe(b.runContext);
  });

  it.each([
    ['flag', 'tool:dataflow:flagged', 'success'], ['declassify', 'tool:dataflow:declassified', 'success'],
  ] as const)('verdict %s is reported and the call goes on', async (action, row, decision) => {
    const b = bench([entry('t', { __sideEffectClass: 'side-effecting' })], {
      dataFlowGuard: { inspect: () => ({ action, flow: 'lethal-trifecta', reason: 'r', sourceKinds: ['mcp'] }), record: () => {} },
    });
    success(await b.one('t'));
    expect(b.row(row)).toMatchObject({ decision, metadata: { flow: 'lethal-trifecta', decision: action, sourceKinds: ['mcp'] } });
    expect(counters()[`tool.dataflow.decision.total{decision=${action},flow=lethal-trifecta,toolName=t}`]).toBe(1);
  });

  it('source kinds in the row are a copy; the input has the keys of 4.5', async () => {
    const sourceKinds = ['mcp'];
    let seen: Loose = {};
    const b = bench([entry('t', { __sideEffectClass: 'side-effecting' })], {
      dataFlowGuard: { inspect: (input) => { seen = input as never; return { action: 'flag', flow: 'f', reason: 'r', sourceKinds }; }, record: () => {} },
    });
    const args = { a: 1 };
    await b.one('t', args);
    expect((b.row('tool:dataflow:flagged')!.metadata as Loose)['sourceKinds']).not.toBe(sourceKinds);
    expect(Object.keys(seen)).toEqual(['toolName', 'sideEffectClass', 'trustClass', 'source', 'args', 'runContext']);
    expect(seen['args']).toBe(args);
  });
});
