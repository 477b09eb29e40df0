// Rows of code mode: what a script costs from the call to its result. The yardstick is a process that
// does nothing, started and waited for in the same run.
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { runBridgedSource } from 'ferrule/sandbox';

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

const empty = () => new Promise((resolve) => spawn('/bin/true', [], { stdio: 'ignore' }).on('close', resolve));
const withEmpty = async (times, work) => ({ ms: await median(times, work), yardstick: { name: 'an empty process', ms: await median(times, empty) } });

/** Memory in MB that the sandbox processes of this very host have for themselves: the zygote and its children. */
function privateMb() {
  const parents = new Map();
  for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const [, parent] = /^\d+ \(ferrule-sandbox\) \S (\d+)/.exec(readFileSync(`/proc/${id}/stat`, 'utf8')) ?? [];
      if (parent !== undefined) parents.set(id, parent);
    } catch {
      // It ended while we looked.
    }
  }
  const host = String(process.pid);
  let total = 0;
  for (const [id, parent] of parents) {
    if (parent !== host && parents.get(parent) !== host) continue;
    try {
      for (const [, kb] of readFileSync(`/proc/${id}/smaps_rollup`, 'utf8').matchAll(/^Private_\w+:\s+(\d+) kB/gm)) total += Number(kb) / 1024;
    } catch {
      // It may not be looked at.
    }
  }
  return total;
}

export const rows = [
  {
    name: 'code mode: first `return 1`, start-up included',
    goal: '<= 40 ms',
    run: () => withEmpty(1, () => run('return 1')),
  },
  {
    name: 'code mode: `return 1`, warm',
    goal: '<= 2 ms',
    run: () => withEmpty(100, () => run('return 1')),
  },
  {
    name: 'code mode: 100 tool calls one after another',
    goal: '<= 15 ms',
    // As many rounds as the row above, so that the median is that of compiled code.
    run: () => withEmpty(100, () => run('for (let i = 0; i < 100; i++) await tools.echo({ i })')),
  },
  {
    name: 'code mode: 1,000 tool calls at once',
    goal: '<= 60 ms',
    run: () => withEmpty(7, () => run('await Promise.all(Array.from({ length: 1000 }, (_, i) => tools.echo({ i })))')),
  },
  {
    name: 'code mode: 10,000 records from a tool to a script',
    run: async () => {
      const records = Array.from({ length: 10_000 }, (_, id) => ({ id, name: `record ${id}`, price: id / 4, note: null, open: true }));
      const dispatch = async () => records;
      return { ms: await median(5, () => run('return (await tools.echo()).length', { dispatch })), yardstick: { name: 'JSON.stringify and back', ms: await median(5, async () => JSON.parse(JSON.stringify(records))) } };
    },
  },
  {
    name: 'code mode: a text of 2 MB gathered in 20,000 pieces',
    run: async () => {
      const source = "let out = ''; const line = 'x'.repeat(100); for (let i = 0; i < 20_000; i++) out += line + i; return out.length";
      const inNode = new Function(source);
      return { ms: await median(5, () => run(source)), yardstick: { name: 'the same in Node', ms: await median(5, async () => inNode()) } };
    },
  },
  {
    name: 'code mode: 50 scripts at once',
    goal: '<= 250 ms, <= 60 MB',
    run: async () => {
      await run('return 1');
      const timed = await withEmpty(5, () => Promise.all(Array.from({ length: 50 }, () => run('await tools.echo(1); return 1'))));
      let mb = 0;
      const alive = Array.from({ length: 50 }, () => run('await tools.echo(1); await new Promise((r) => setTimeout(r, 1500)); return 1'));
      setTimeout(() => (mb = privateMb()), 1000);
      await Promise.all(alive);
      return { ...timed, privateMb: Math.round(mb * 10) / 10 };
    },
  },
];
