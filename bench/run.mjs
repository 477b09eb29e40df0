// `npm run bench`: every row of every room, each with its yardstick from the same run.
//
//   node bench/run.mjs [--only=words] [--out=DIR]      measure; words are looked for in file and row names;
//                                                     DIR is where the JSON goes, bench/results by default
//   node bench/run.mjs --compare a.json b.json         two earlier runs side by side
//   BENCH_TARGET=/path/to/package node bench/run.mjs   another package with the same API, measured beside
//
// A row file `bench/<room>.mjs` exports `rows`: `[{ name, goal, run }]`. `run()` gives (a promise of)
// milliseconds, or `{ ms, yardstick?: { name, ms } }` with whatever else it wants kept; a goal that is
// a number is the most it may take. Each file runs in a process
// of its own, one for each side. BENCH_TARGET_SECURITY names a second package for the subpaths that
// the first does not have, as `@graphorin/security` does for `@graphorin/tools`. BENCH_PEERS names a folder with
// other script engines; see peers.mjs.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const helpers = new Set(['run.mjs', 'one.mjs', 'redirect.mjs', 'redirect-hooks.mjs']);

const option = (name) => process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);

/** Runs one file's rows in a child; a row that fails is a row with an error. */
function measure(file, only, target) {
  return new Promise((resolve) => {
    const args = ['--expose-gc', ...(target ? ['--import', join(here, 'redirect.mjs')] : []), join(here, 'one.mjs'), file, only ?? ''];
    const env = { ...process.env, BENCH_SIDE: target ? 'target' : 'ours' };
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
    let said = '';
    child.stdout.on('data', (data) => (said += data));
    child.on('close', (code) => {
      const results = said
        .split('\n')
        .filter((line) => line.startsWith('{"row":'))
        .map((line) => JSON.parse(line).row);
      if (code !== 0 && results.length === 0) results.push({ name: basename(file), error: `ended with ${code}` });
      resolve(results);
    });
  });
}

const figure = (ms) => {
  if (ms === undefined || Number.isNaN(ms)) return '';
  if (ms < 1) return `${(ms * 1000).toPrecision(3)} µs`;
  return ms < 10_000 ? `${ms.toPrecision(3)} ms` : `${(ms / 1000).toPrecision(3)} s`;
};
const goalText = (goal) => (typeof goal === 'number' ? `<= ${goal} ms` : (goal ?? ''));
const times = (a, b) => {
  if (!(a > 0 && b > 0)) return '';
  return `${a / b < 1000 ? (a / b).toPrecision(3) : Math.round(a / b)}x`;
};

/** Prints rows of cells in columns. */
function table(head, rows) {
  const widths = head.map((cell, index) => Math.max(cell.length, ...rows.map((row) => row[index].length)));
  const line = (cells) => cells.map((cell, index) => (index < 2 ? cell.padEnd(widths[index]) : cell.padStart(widths[index]))).join('  ');
  console.log(line(head));
  console.log(widths.map((width) => '-'.repeat(width)).join('  '));
  for (const row of rows) console.log(line(row));
}

function show(results, withTarget) {
  table(
    ['work', 'goal', 'ferrule', 'yardstick', 'ratio', ...(withTarget ? ['target', 'target/ferrule'] : [])],
    results.map(({ name, goal, ours, target }) => [
      name,
      goalText(goal),
      ours?.error ? 'failed' : figure(ours?.ms),
      figure(ours?.yardstick?.ms),
      times(ours?.ms, ours?.yardstick?.ms),
      ...(withTarget ? [target?.error ? 'failed' : figure(target?.ms), times(target?.ms, ours?.ms)] : []),
    ]),
  );
  for (const { name, ours, target } of results) {
    if (ours?.error) console.log(`\n${name}: ${ours.error}`);
    if (target?.error) console.log(`\n${name} (target): ${target.error}`);
  }
}

function compare(before, after) {
  const load = (file) => JSON.parse(readFileSync(file, 'utf8'));
  const [a, b] = [load(before), load(after)];
  const later = new Map(b.rows.map((row) => [row.name, row.ours]));
  table(
    ['work', 'goal', basename(before), basename(after), 'after/before', 'ratio before', 'ratio after'],
    a.rows
      .filter(({ name }) => later.has(name))
      .map(({ name, goal, ours }) => {
        const now = later.get(name);
        return [name, goalText(goal), figure(ours?.ms), figure(now?.ms), times(now?.ms, ours?.ms), times(ours?.ms, ours?.yardstick?.ms), times(now?.ms, now?.yardstick?.ms)];
      }),
  );
}

async function main() {
  const at = process.argv.indexOf('--compare');
  if (at > 0) {
    const [before, after] = process.argv.slice(at + 1);
    if (!before || !after) throw new Error('--compare takes two files of bench/results');
    compare(before, after);
    return;
  }
  const only = option('only');
  const target = process.env.BENCH_TARGET;
  const results = [];
  for (const name of readdirSync(here).filter((file) => file.endsWith('.mjs') && !helpers.has(file) && file !== 'soak.mjs').sort()) {
    console.error(`measuring ${name}`);
    const ours = await measure(join(here, name), only, undefined);
    const theirs = target ? await measure(join(here, name), only, target) : [];
    for (const { name: row, goal, ...rest } of ours) {
      // A file that did not even load stands for all its rows.
      const other = theirs.find((one) => one.name === row) ?? theirs.find((one) => one.name === name);
      results.push({ room: basename(name, '.mjs'), name: row, goal, ours: rest, ...(other ? { target: other } : {}) });
    }
  }
  show(results, Boolean(target));
  const file = join(option('out') ?? join(here, 'results'), `${new Date().toISOString().replace(/[:.]/g, '-')}.json`);
  mkdirSync(dirname(file), { recursive: true });
  const machine = { node: process.version, platform: `${process.platform}-${process.arch}`, cpu: cpus()[0]?.model, cpus: cpus().length };
  writeFileSync(file, `${JSON.stringify({ at: new Date().toISOString(), machine, ...(target ? { target } : {}), rows: results }, null, 1)}\n`);
  console.log(`\nwritten: ${file}`);
  process.exitCode = results.some(({ ours }) => ours?.error) ? 1 : 0;
}

await main();
