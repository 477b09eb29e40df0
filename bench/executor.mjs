// Rows of `npm run bench` about the executor: what a call costs beside the tool itself.
// Each `run` returns the milliseconds of one call, the median of several rounds, next to a yardstick
// taken in the same round.
import { NOOP_TRACER } from 'ferrule/core';
import { createToolExecutor } from 'ferrule/executor';
import { createToolRegistry } from 'ferrule/registry';
import { tool } from 'ferrule/builder';
import { z } from 'zod';

// Enough for the engine to have compiled what is measured: the median is that of a running app.
const ROUNDS = 31;
const CALLS = 1_000;

const runContext = () => ({
  runId: 'bench',
  sessionId: 'bench',
  agentId: 'bench',
  deps: {},
  tracer: NOOP_TRACER,
  signal: new AbortController().signal,
  usage: {},
  stepNumber: 1,
  messages: [],
  state: {},
});

const loose = { parse: (data) => data, safeParse: (data) => ({ success: true, data }) };

function executorOf(options) {
  const registry = createToolRegistry();
  registry.register(tool({ name: 'trivial', description: 'does nothing', inputSchema: loose, sideEffectClass: 'read-only', execute: async () => 'ok', ...options }));
  return { executor: createToolExecutor({ registry }), entry: registry.get('trivial') };
}

const callsOf = (args) => Array.from({ length: CALLS }, (_, at) => ({ toolCallId: `c${at}`, toolName: 'trivial', args }));

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Measures both by turns; each gets the milliseconds of one call. */
async function paired(work, yardstick) {
  const [ours, theirs] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [act, into] of [[yardstick, theirs], [work, ours]]) {
      const started = performance.now();
      await act();
      into.push((performance.now() - started) / CALLS);
    }
  }
  return [median(ours), median(theirs)];
}

async function one() {
  const { executor, entry } = executorOf({});
  const context = runContext();
  const calls = callsOf({});
  const [ms, bare] = await paired(
    async () => {
      for (const call of calls) await executor.executeOne({ call, runContext: context, stepNumber: 1 });
    },
    async () => {
      for (const { args } of calls) await entry.execute(args, undefined);
    },
  );
  return { ms, yardstick: { name: 'bare await tool.execute()', ms: bare } };
}

async function batch() {
  const { executor, entry } = executorOf({});
  const context = runContext();
  const calls = callsOf({});
  const [ms, bare] = await paired(
    () => executor.executeBatch({ calls, runContext: context, stepNumber: 1 }),
    () => Promise.all(calls.map(({ args }) => entry.execute(args, undefined))),
  );
  return { ms, yardstick: { name: 'bare await tool.execute()', ms: bare } };
}

const FIELDS = {
  a: z.string(), b: z.string(), c: z.string().min(1), d: z.string().optional(), e: z.string().default('x'),
  f: z.number(), g: z.number().int(), h: z.number().optional(), i: z.boolean(), j: z.boolean().default(false),
  k: z.enum(['one', 'two']), l: z.array(z.string()), m: z.object({ n: z.number() }), o: z.string().nullable(), p: z.literal('p'),
};

async function validated() {
  const schema = z.object(FIELDS);
  const args = { a: 'a', b: 'b', c: 'c', e: 'e', f: 1.5, g: 2, i: true, j: true, k: 'one', l: ['x', 'y'], m: { n: 1 }, o: null, p: 'p' };
  const { executor } = executorOf({ inputSchema: schema, outputSchema: schema, execute: async (input) => input });
  const context = runContext();
  const calls = callsOf(args);
  const [ms, parse] = await paired(
    () => executor.executeBatch({ calls, runContext: context, stepNumber: 1 }),
    async () => {
      for (const call of calls) schema.safeParse(call.args);
    },
  );
  return { ms, yardstick: { name: 'schema.safeParse', ms: parse } };
}

export const rows = [
  { name: 'executeOne, trivial async tool, no hooks', goal: '<= 20 µs', run: one },
  { name: 'executeBatch of 1,000 trivial tools, each', goal: '<= 12 µs', run: batch },
  { name: 'executeBatch, 15-field zod schema in and out, each', goal: 'safeParse + 15 µs', run: validated },
];
