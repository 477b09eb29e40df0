// Code mode: what a script costs from the call to its result.
import { runBridgedSource } from '../dist/sandbox/index.js';

const run = async (source, options = {}) => {
  const result = await runBridgedSource({ source, allowedTools: ['echo'], dispatch: async ({ args }) => args, maxToolCalls: 5000, ...options });
  if (!result.ok) throw new Error(result.error.message);
  return result;
};

/** The median of what `work` takes, in milliseconds. */
async function median(times, work) {
  const taken = [];
  for (let i = 0; i < times; i++) {
    const started = performance.now();
    await work();
    taken.push(performance.now() - started);
  }
  return taken.sort((a, b) => a - b)[times >> 1];
}

/** Rows of the measurements: `run` resolves with milliseconds, `goal` is an upper bound on them. */
export const rows = [
  {
    name: 'code mode: first `return 1`, start-up included',
    goal: 40,
    run: async () => median(1, () => run('return 1')),
  },
  {
    name: 'code mode: `return 1`, warm',
    goal: 2,
    run: async () => median(100, () => run('return 1')),
  },
  {
    name: 'code mode: 100 tool calls one after another',
    goal: 15,
    run: async () => median(15, () => run('for (let i = 0; i < 100; i++) await tools.echo({ i })')),
  },
  {
    name: 'code mode: 1,000 tool calls at once',
    goal: 60,
    run: async () => median(7, () => run('await Promise.all(Array.from({ length: 1000 }, (_, i) => tools.echo({ i })))')),
  },
  {
    name: 'code mode: 50 scripts at once',
    goal: 250,
    run: async () => median(5, () => Promise.all(Array.from({ length: 50 }, () => run('await tools.echo(1); return 1')))),
  },
];

if (import.meta.url === `file://${process.argv[1]}`) {
  for (const { name, goal, run: measure } of rows) console.log(`${name}: ${(await measure()).toFixed(2)} ms (goal ${goal})`);
}
