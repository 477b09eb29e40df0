// Rows of other script engines on `return 1`, beside ours, for those that are there: none is a
// dependency. Ours is a process of its own, theirs run inside the app's.
//
//   npm install --prefix /tmp/peers isolated-vm quickjs-emscripten
//   BENCH_PEERS=/tmp/peers node bench/run.mjs --only=peers
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { runBridgedSource } from 'ferrule/sandbox';

const require = createRequire(join(process.env.BENCH_PEERS ?? process.cwd(), 'package.json'));

function peer(name) {
  try {
    return require(name);
  } catch {
    return undefined;
  }
}

const ROUNDS = 51;
const middle = (list) => list.sort((a, b) => a - b)[list.length >> 1];

/** Both by turns, each warmed by a few runs. */
async function paired(theirs, name) {
  const ours = async () => {
    const result = await runBridgedSource({ source: 'return 1', allowedTools: [], dispatch: async () => undefined });
    if (!result.ok || result.output !== 1) throw new Error('return 1 gave something else');
  };
  const taken = [[], []];
  for (let round = -5; round < ROUNDS; round += 1) {
    for (const [at, work] of [ours, theirs].entries()) {
      const from = performance.now();
      await work();
      if (round >= 0) taken[at].push(performance.now() - from);
    }
  }
  return { ms: middle(taken[0]), yardstick: { name, ms: middle(taken[1]) } };
}

/** A fresh isolate for each script, as for ours a fresh process. */
function isolatedVm(ivm) {
  return async () => {
    const isolate = new ivm.Isolate({ memoryLimit: 64 });
    const context = await isolate.createContext();
    const script = await isolate.compileScript('(async () => { return 1 })()');
    if ((await script.run(context, { promise: true, copy: true, timeout: 1000 })) !== 1) throw new Error('not 1');
    isolate.dispose();
  };
}

/** A fresh runtime and context; the module is loaded once. */
async function quickJs({ getQuickJS }) {
  const engine = await getQuickJS();
  return async () => {
    const context = engine.newContext();
    const result = context.unwrapResult(context.evalCode('(() => { return 1 })()'));
    if (context.getNumber(result) !== 1) throw new Error('not 1');
    result.dispose();
    context.dispose();
  };
}

const ivm = peer('isolated-vm');
const quickjs = peer('quickjs-emscripten');
if (ivm === undefined && quickjs === undefined) console.error('peers: none installed, no rows (see bench/peers.mjs)');

export const rows = [
  ...(ivm ? [{ name: 'peer isolated-vm: `return 1`', goal: 'ahead of it', run: () => paired(isolatedVm(ivm), 'isolated-vm') }] : []),
  ...(quickjs ? [{ name: 'peer QuickJS in wasm: `return 1`', goal: 'near it', run: async () => paired(await quickJs(quickjs), 'quickjs-emscripten') }] : []),
];
