// Rows of the package itself: what `import "ferrule"` costs in time and memory, in fresh processes. The
// time is that of the import within the process, without the start of Node; ours and the yardstick are
// taken by turns. Every app of ours has its schema library loaded, so the rows that have zod loaded
// before are what such an app pays; the first row is what everybody else pays. Whatever is imported first
// also pays for Node's loader getting going: the row of an empty file shows how much that is.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROUNDS = 9;
// Found once and here, where another package may stand in for ours (BENCH_TARGET): the fresh processes
// import a file, which costs both sides the same.
const url = JSON.stringify(import.meta.resolve('ferrule'));
const file = JSON.stringify(fileURLToPath(import.meta.resolve('ferrule')));
const middle = (list) => list.sort((a, b) => a - b)[list.length >> 1];

/** Runs a module text in a fresh Node and returns the numbers it prints. */
const fresh = (text) =>
  execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', text], { encoding: 'utf8' }).trim().split(' ').map(Number);

/** Milliseconds of `work`, and those the processor was at it, which a busy machine changes less. */
const timing = (work, before = '') =>
  `import { createRequire } from 'node:module'; const require = createRequire(process.cwd() + '/bench/'); ${before};
   const used = process.cpuUsage(); const from = performance.now(); ${work};
   const ms = performance.now() - from; const { user, system } = process.cpuUsage(used); console.log(ms, (user + system) / 1000);`;

const zod = "await import('zod')";

function paired(work, before, yardstick) {
  const [ours, theirs] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(fresh(timing(work, before)));
    theirs.push(fresh(timing(yardstick.work)));
  }
  const figures = (list) => ({ ms: middle(list.map(([ms]) => ms)), cpuMs: middle(list.map(([, cpu]) => cpu)) });
  return { ...figures(ours), yardstick: { name: yardstick.name, ...figures(theirs) } };
}

const importZod = { name: 'import "zod"', work: zod };
const requireZod = { name: 'require("zod")', work: "require('zod')" };

/** Memory of a process that imported `what` and used it once, so that the addon is loaded. */
const memory = (what) =>
  `${what}; globalThis.gc(); await new Promise((r) => setTimeout(r, 50)); globalThis.gc(); console.log(process.memoryUsage().rss / 1e6);`;
const megabytes = (what) => middle(Array.from({ length: ROUNDS }, () => fresh(memory(what))[0]));

/** The same for a file with nothing in it. */
function nothing() {
  const folder = mkdtempSync(join(tmpdir(), 'ferrule-bench-'));
  try {
    const empty = join(folder, 'empty.mjs');
    writeFileSync(empty, '');
    return paired(`await import(${JSON.stringify(pathToFileURL(empty).href)})`, '', importZod);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const rows = [
  { name: 'import "ferrule", nothing else loaded', goal: '<= 15 ms', run: () => paired(`await import(${url})`, '', importZod) },
  { name: 'import an empty file, nothing else loaded', run: nothing },
  { name: 'import "ferrule", zod being there', goal: '<= 15 ms', run: () => paired(`await import(${url})`, zod, importZod) },
  { name: 'require("ferrule"), zod being there', goal: '<= 15 ms', run: () => paired(`require(${file})`, "require('zod')", requireZod) },
  {
    name: 'import "ferrule" and load the addon',
    goal: '<= 15 ms',
    run: () => paired(`const { incrementCounter } = await import(${url}); incrementCounter("bench.total")`, zod, importZod),
  },
  {
    name: 'idle memory added by import "ferrule" (MB, shown as ms)',
    goal: '<= 8 MB',
    run: () => {
      const bare = megabytes(zod);
      const loaded = megabytes(`${zod}; const { incrementCounter } = await import(${url}); incrementCounter("bench.total")`);
      return { ms: loaded - bare, megabytes: loaded - bare, bareMegabytes: bare };
    },
  },
];
