// Rows of `npm run bench` about the registry: what registering, colliding and searching cost.
// Times are medians; the yardstick is the least that could be done instead.
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

/** The median of several runs, each of which prepares for itself; the first ones warm up. */
async function median(rounds, work) {
  const times = [];
  for (let round = 0; round < rounds; round++) times.push(await work());
  return times.sort((a, b) => a - b)[rounds >> 1];
}

/** The least a registry could do: a frozen copy in a map. */
async function bareMap(tools) {
  const ms = await median(7, () => {
    const map = new Map();
    return timed(() => {
      for (const tool of tools) map.set(tool.name, Object.freeze({ ...tool }));
    });
  });
  return { name: 'frozen copies into a Map', ms };
}

async function registering(patch) {
  const tools = catalogue(10_000, patch);
  const ms = await median(21, () => {
    const registry = createToolRegistry();
    return timed(() => {
      for (const tool of tools) registry.register(tool);
    });
  });
  return { ms, yardstick: await bareMap(tools) };
}

async function colliding() {
  const tools = catalogue(10_000);
  const ms = await median(21, () => {
    const registry = createToolRegistry();
    for (const tool of tools) {
      registry.register(tool);
      registry.register(tool, mcp('bench'));
    }
    return timed(() => registry.assertNoDuplicates('auto-prefix', { source: mcp('bench') }));
  });
  return { ms, yardstick: await bareMap(tools) };
}

async function first(count) {
  const registry = filled(count, { defer_loading: true });
  const started = performance.now();
  await registry.searchDeferred('weather in a city');
  return performance.now() - started;
}

/** The median query on a warm index, and a pass over all texts for comparison. */
async function searching(count) {
  const registry = filled(count, { defer_loading: true });
  await registry.searchDeferred('warm up');
  const next = generator(11);
  const query = () => Array.from({ length: 3 }, () => WORDS[next(WORDS.length)]).join(' ');
  const ms = await median(51, async () => {
    const asked = query();
    const started = performance.now();
    await registry.searchDeferred(asked);
    return performance.now() - started;
  });
  const texts = registry.list().map(({ name, description }) => `${name} ${description}`);
  const scan = await median(11, () => {
    const asked = query();
    return timed(() => texts.filter((text) => text.includes(asked)));
  });
  return { ms, yardstick: { name: 'String.includes over all texts', ms: scan } };
}

async function comingAndGoing() {
  const [tool] = catalogue(1);
  const rounds = 1000;
  const ms = await median(7, () => {
    return timed(() => {
      for (let round = 0; round < rounds; round++) createToolRegistry().register(tool);
    });
  });
  return { ms: ms / rounds };
}

export const rows = [
  { name: 'register 10,000 tools', goal: '<= 40 ms', run: () => registering({}) },
  {
    name: 'register 10,000 tools that declare no class',
    goal: '<= 40 ms',
    run: () => registering({ sideEffectClass: undefined }),
  },
  { name: 'collisions: 10,000 names twice, auto-prefix', goal: '<= 20 ms', run: colliding },
  {
    name: 'first search of 10,000 deferred tools (builds the index)',
    goal: '<= 60 ms',
    run: async () => ({ ms: await median(5, () => first(10_000)) }),
  },
  { name: 'search 10,000 deferred tools', goal: '<= 0.5 ms', run: () => searching(10_000) },
  { name: 'search 100,000 deferred tools', goal: '<= 5 ms', run: () => searching(100_000) },
  { name: 'make a registry, register one tool, forget it', goal: '<= 0.05 ms', run: comingAndGoing },
];
