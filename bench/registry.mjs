// Rows of `npm run bench` about the registry: what registering, colliding and searching cost.
// Each `run` makes its own registry and returns the milliseconds of the part that is named.
import { createToolRegistry } from 'ferrule/registry';

const WORDS = (
  'issue tracker repository message channel invoice refund order city weather forecast calendar event ' +
  'file folder search list create delete update user team project branch commit review deploy server ' +
  'metric alert query table column customer payment shipment address contact note task board sprint'
).split(' ');

// A small generator of its own, so that every run works on the same catalogue.
function generator(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const inputSchema = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };
const execute = async () => undefined;

function catalogue(count, patch = {}) {
  const next = generator(7);
  const pick = () => WORDS[next(WORDS.length)];
  return Array.from({ length: count }, (_, at) => ({
    name: `${pick()}_${pick()}_${at}`,
    description: Array.from({ length: 8 + next(8) }, pick).join(' '),
    inputSchema,
    execute,
    sideEffectClass: 'read-only',
    ...patch,
  }));
}

const mcp = (serverIdentity) => ({ kind: 'mcp', serverIdentity });

function filled(count, patch) {
  const registry = createToolRegistry();
  for (const tool of catalogue(count, patch)) registry.register(tool, mcp('bench'));
  return registry;
}

function timed(work) {
  const started = performance.now();
  work();
  return performance.now() - started;
}

/** The time of one query on a warm index: the mean of many different ones. */
async function searching(count) {
  const registry = filled(count, { defer_loading: true });
  await registry.searchDeferred('warm up');
  const next = generator(11);
  const queries = Array.from({ length: 50 }, () => Array.from({ length: 3 }, () => WORDS[next(WORDS.length)]).join(' '));
  const started = performance.now();
  for (const query of queries) await registry.searchDeferred(query);
  return (performance.now() - started) / queries.length;
}

export const rows = [
  {
    name: 'register 10,000 tools',
    goal: 40,
    run() {
      const tools = catalogue(10_000);
      const registry = createToolRegistry();
      return timed(() => {
        for (const tool of tools) registry.register(tool);
      });
    },
  },
  {
    name: 'register 10,000 tools that declare nothing',
    goal: 40,
    run() {
      const tools = catalogue(10_000, { sideEffectClass: undefined });
      const registry = createToolRegistry();
      return timed(() => {
        for (const tool of tools) registry.register(tool);
      });
    },
  },
  {
    name: 'collisions: 10,000 names twice, auto-prefix',
    goal: 20,
    run() {
      const registry = createToolRegistry();
      for (const tool of catalogue(10_000)) {
        registry.register(tool);
        registry.register(tool, mcp('bench'));
      }
      return timed(() => registry.assertNoDuplicates('auto-prefix', { source: mcp('bench') }));
    },
  },
  { name: 'first search of 10,000 deferred tools (builds the index)', goal: 60, run: () => first(10_000) },
  { name: 'search 10,000 deferred tools', goal: 0.5, run: () => searching(10_000) },
  { name: 'search 100,000 deferred tools', goal: 5, run: () => searching(100_000) },
  {
    name: 'make a registry, register one tool, forget it',
    goal: 0.05,
    run() {
      const [tool] = catalogue(1);
      const rounds = 1000;
      return timed(() => {
        for (let round = 0; round < rounds; round++) createToolRegistry().register(tool);
      }) / rounds;
    },
  },
];

async function first(count) {
  const registry = filled(count, { defer_loading: true });
  const started = performance.now();
  await registry.searchDeferred('weather in a city');
  return performance.now() - started;
}
