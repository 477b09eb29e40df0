// Rows of the package itself: what `import "ferrule"` costs in time and memory, in fresh processes.
import { execFileSync } from 'node:child_process';

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

/** Runs a module text in a fresh Node and returns the number it prints. */
const fresh = (text) => Number(execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', text], { encoding: 'utf8' }));

/** Every app of ours has its schema library loaded, so that is no part of what we cost. */
const importing = (what, before = '') =>
  `${before && `await import('${before}'); `}const t = performance.now(); await import('${what}'); console.log(performance.now() - t);`;
/** Memory of a process that imported `what` and used it once, so that the addon is loaded. */
const memory = (what) =>
  `${what}; globalThis.gc(); await new Promise((r) => setTimeout(r, 50)); globalThis.gc(); console.log(process.memoryUsage().rss / 1e6);`;
const rounds = (work) => median(Array.from({ length: 9 }, work));

export const rows = [
  {
    name: 'import "ferrule", zod being there',
    goal: '<= 15 ms',
    run: () => ({
      ms: rounds(() => fresh(importing('ferrule', 'zod'))),
      yardstick: { name: 'import "zod"', ms: rounds(() => fresh(importing('zod'))) },
    }),
  },
  {
    name: 'import "ferrule" and load the addon',
    goal: '<= 15 ms',
    run: () => ({
      ms: rounds(() =>
        fresh(`await import('zod'); const t = performance.now(); const { createToolRegistry } = await import('ferrule'); createToolRegistry(); console.log(performance.now() - t);`),
      ),
      yardstick: { name: 'import "zod"', ms: rounds(() => fresh(importing('zod'))) },
    }),
  },
  {
    name: 'idle memory added by import "ferrule" (MB, shown as ms)',
    goal: '<= 8 MB',
    run: () => {
      const bare = rounds(() => fresh(memory("await import('zod')")));
      const loaded = rounds(() => fresh(memory(`await import('zod'); const { createToolRegistry } = await import('ferrule'); createToolRegistry()`)));
      return { ms: loaded - bare, megabytes: loaded - bare, bareMegabytes: bare };
    },
  },
];
