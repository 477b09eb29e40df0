/**
 * Random combinations of gates, tools and results against a model written from the description: the
 * same rows, events, counters and ending, whatever comes together.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { tool } from 'ferrule/builder';
import { toolReturn } from 'ferrule/core';
import type { ToolSource } from 'ferrule/core';
import { ToolRateLimitError } from 'ferrule/executor';
import { createToolRegistry } from 'ferrule/registry';
import { ANSWERS, INJECTION, inputSchema, tell } from './combinations-model.js';
import type { Situation, Story } from './combinations-model.js';
import { bench, counters, type Loose } from './kit.js';

const often = <T>(usual: T, ...others: T[]): fc.Arbitrary<T> => fc.constantFrom(usual, usual, usual, ...others);

const situation = fc.record({
  tool: fc.array(
    fc.constantFrom(
      'text', 'object', 'undefined', 'null', 'branded', 'unbranded', 'injection', 'bad output', 'throws', 'throws text',
      'throws at once', 'rate limit', 'streams', 'streams and returns', 'streams and throws',
    ),
    { minLength: 1, maxLength: 3 },
  ),
  sideEffects: fc.constantFrom('pure', 'read-only', 'side-effecting', 'external-stateful'),
  source: fc.constantFrom('first-party', 'mcp', 'built-in'),
  key: fc.constantFrom('none', 'given', 'throws'),
  streams: fc.boolean(),
  outputSchema: fc.boolean(),
  failClosed: fc.boolean(),
  validArgs: often(true, false),
  repair: fc.constantFrom('none', 'repairs', 'gives up', 'throws', 'still invalid'),
  disableRepair: often(false, true),
  hook: often('none', 'allow', 'deny', 'deny with reason', 'ask', 'defer with reason', 'rewrite', 'bad rewrite', 'echo', 'throws'),
  approval: often('none', 'true', 'false', 'predicate', 'predicate false', 'predicate throws'),
  gate: often('grants', 'none', 'denies', 'denies with reason', 'null', 'throws'),
  policy: often('none', 'allow', 'forbid', 'ask', 'denies the name', 'throws'),
  flow: often('none', 'allow', 'flag', 'declassify', 'block', 'throws'),
  preApproved: often(false, true),
  readOnlyRun: often(false, true),
  retryKinds: fc.constantFrom(undefined, ['execution_failed'], ['invalid_output', 'rate_limited'], []),
  maxAttempts: fc.constantFrom(undefined, 1, 2),
}) as fc.Arbitrary<Situation>;

const SOURCES: Readonly<Record<Situation['source'], ToolSource>> = {
  'first-party': { kind: 'first-party' },
  mcp: { kind: 'mcp', serverIdentity: 'srv' },
  'built-in': { kind: 'built-in', subsystem: 'x' },
};

const breaks = (message: string) => (): never => {
  throw new Error(message);
};

/** The tool of a situation. */
function toolOf(s: Situation) {
  let entered = 0;
  const streams = (ctx: { streamContent(chunk: { kind: 'text'; text: string }): void }, ...texts: string[]): void => {
    for (const text of texts) ctx.streamContent({ kind: 'text', text });
  };
  const acts: Readonly<Record<Situation['tool'][number], (n: number, ctx: never) => unknown>> = {
    text: () => 'text',
    object: (n) => ({ n }),
    undefined: () => undefined,
    null: () => null,
    branded: () => toolReturn({ output: 'branded' }),
    unbranded: () => ({ output: { u: 1 } }),
    injection: () => INJECTION,
    'bad output': () => ({ bad: true }),
    throws: breaks('tool broke'),
    'throws text': () => {
      throw 'just text';
    },
    'throws at once': breaks('broke at once'),
    'rate limit': () => {
      throw new ToolRateLimitError('slow down', { retryAfterMs: 0 });
    },
    streams: (_, ctx) => streams(ctx, 'ab', 'c'),
    'streams and returns': (_, ctx) => {
      streams(ctx, 'ab');
      return 'streams and returns';
    },
    'streams and throws': (_, ctx) => {
      streams(ctx, 'ab');
      throw new Error('tool broke');
    },
  };
  const outputSchema = {
    parse: (data: unknown) => data,
    safeParse: (data: unknown) =>
      (data as Loose | null)?.['bad'] === true
        ? { success: false, error: { name: 'E', message: 'bad indeed', issues: [] } }
        : { success: true, data },
  };
  const approvals: Readonly<Record<Situation['approval'], unknown>> = {
    none: undefined,
    true: true,
    false: false,
    predicate: async () => true,
    'predicate false': () => false,
    'predicate throws': breaks('predicate broke'),
  };
  return tool({
    name: 't',
    description: 'a tool',
    inputSchema,
    sideEffectClass: s.sideEffects,
    failClosed: s.failClosed,
    ...(s.streams ? { streamingHint: true } : {}),
    ...(s.outputSchema ? { outputSchema } : {}),
    ...(s.key === 'none' ? {} : { idempotencyKey: s.key === 'throws' ? breaks('key broke') : () => 'key' }),
    ...(s.approval === 'none' ? {} : { needsApproval: approvals[s.approval] }),
    execute: ({ n }: { n: number }, ctx: never) => {
      const act = s.tool[Math.min(entered, s.tool.length - 1)]!;
      entered += 1;
      if (act === 'throws at once') acts[act](n, ctx);
      return Promise.resolve().then(() => acts[act](n, ctx));
    },
  } as never);
}

/** The executor's options of a situation. */
function optionsOf(s: Situation, recorded: unknown[][]): Loose {
  const granted: Readonly<Record<string, unknown>> = {
    grants: { granted: true }, denies: { granted: false }, 'denies with reason': { granted: false, reason: 'not today' }, null: null,
  };
  const repaired: Readonly<Record<string, unknown>> = { repairs: { n: 5 }, 'gives up': null, 'still invalid': { n: 'y' } };
  const verdict = { action: s.flow, flow: 'untrusted-to-sink', reason: 'tainted', sourceKinds: ['mcp'] };
  return {
    retry: {
      backoffMs: 0,
      ...(s.retryKinds ? { kinds: s.retryKinds } : {}),
      ...(s.maxAttempts === undefined ? {} : { maxAttempts: s.maxAttempts }),
    },
    ...(s.repair === 'none' ? {} : { repair: { repair: async () => (s.repair === 'throws' ? breaks('repair broke')() : repaired[s.repair]) } }),
    ...(s.hook === 'none' ? {} : { permissionHook: async () => ANSWERS[s.hook] ?? breaks('hook broke')() }),
    ...(s.gate === 'none' ? {} : { approvalGate: { request: async () => (s.gate === 'throws' ? breaks('gate broke')() : granted[s.gate]) } }),
    ...(s.policy === 'none' ? {} : {
      argumentPolicy: {
        evaluate: () => (s.policy === 'throws' ? breaks('policy broke')() : s.policy === 'forbid' ? { effect: 'forbid', reason: 'forbidden' } : { effect: 'allow' }),
        ...(s.policy === 'ask' ? { decide: () => ({ effect: 'ask', reason: 'unsure' }) } : {}),
        ...(s.policy === 'denies the name' ? { deniesName: () => ({ denied: true, reason: 'no such name' }) } : {}),
      },
    }),
    ...(s.flow === 'none' ? {} : {
      dataFlowGuard: {
        inspect: () => (s.flow === 'throws' ? breaks('guard broke')() : verdict),
        record: (input: { trustClass: string; outputText: string }) => recorded.push([input.trustClass, input.outputText]),
      },
    }),
  };
}

/** Runs a situation and tells what was seen, in the model's words. */
async function observe(s: Situation): Promise<Story> {
  const registry = createToolRegistry({ emitAudit: () => {} });
  const resolved = registry.register(toolOf(s), SOURCES[s.source]);
  const recorded: unknown[][] = [];
  const b = bench([resolved as never], optionsOf(s, recorded));
  const record = await b.batchOne('t', s.validArgs ? { n: 1 } : { n: 'x' }, {
    ...(s.disableRepair ? { disableRepair: true } : {}),
    ...(s.preApproved ? { preApproved: true } : {}),
    ...(s.readOnlyRun ? { capability: 'read-only' } : {}),
  });
  const { outcome } = record;
  const escaped = /^tool execution rejected outside the executor pipeline: (.*)$/s.exec('kind' in outcome ? outcome.message : '');
  const rows = b.rows
    // What escaped is told by a row of ours, which has tests of its own.
    .filter(({ metadata }) => metadata?.['kind'] !== 'callback-failed')
    .map(({ action, decision, metadata }) => {
      const { durationMs: _, ...rest } = metadata ?? {};
      return metadata ? [action, decision, rest] : [action, decision];
    });
  const events = b.events.map((event) => {
    if (event.type === 'tool.execute.end') return ['end', event.result];
    if (event.type === 'tool.execute.error') return ['error', event.error.kind, event.error.message, event.error.hint];
    return event.type === 'tool.execute.partial' ? ['partial', (event.chunk as { text: string }).text, event.chunkIndex] : ['start'];
  });
  return {
    rows, events, recorded, counts: countsOf(),
    ending: escaped ? { escaped: escaped[1]! } : 'kind' in outcome ? { kind: outcome.kind, message: outcome.message, hint: outcome.hint } : { output: outcome.output },
  };
}

const PLAIN = [
  'invocations', 'name-denied', 'capability-blocked', 'policy-blocked', 'permission-hook-failed', 'permission-blocked',
  'permission-replay-rewrite', 'permission-unresolvable', 'permission-rewritten', 'return-and-stream-conflict',
  'unbranded-toolreturn', 'idempotency-key-evaluated',
];

/** The counters the model speaks of, under its names. */
function countsOf(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [key, value] of Object.entries(counters())) {
    const [, name, kind] = /\.([a-z-]+)(?:\.total)?(?:\{(?:kind=([a-z_]+),)?.*\})?$/.exec(key) ?? [];
    if (name === undefined) continue;
    if (name === 'errors' || name === 'retry') counts[`${name}.${kind}`] = value;
    else if (PLAIN.includes(name)) counts[name] = value;
  }
  return counts;
}

it('02 sections 7 to 9: any combination tells the story of the description', async () => {
  await fc.assert(
    fc.asyncProperty(situation, async (s) => {
      expect(await observe(s)).toEqual(tell(s));
    }),
    { numRuns: 600 },
  );
});
