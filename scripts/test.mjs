// `npm test`: everything, from a clean clone, in one command. `npm run ready` is the same after
// formatting the Rust sources, and writes the API reference instead of checking it.
//
//   node scripts/test.mjs [--ready] [--only=step,step] [--skip=step,step]
//
// A failing step does not stop the later ones: one run shows all that is wrong. It ends with a table
// of the steps and the number of tests.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { attempt, bin, bold, ensureDist, ensureNative, ensurePackages, ensureTools, roomFeatures, root, say } from './lib.mjs';
import { ensureOtherNodes } from './other-nodes.mjs';

const list = (flag) => process.argv.find((arg) => arg.startsWith(`${flag}=`))?.slice(flag.length + 1).split(',');
const ready = process.argv.includes('--ready');
const only = list('--only');
const skip = list('--skip') ?? [];
const denyWarnings = ['--', '-D', 'warnings'];

/** One command as a step; its output is read for numbers of tests. */
const command = (program, ...args) => async () => attempt(program, args, { collect: true, env: coloured });
const coloured =
  process.stdout.isTTY && !process.env.NO_COLOR
    ? { ...process.env, FORCE_COLOR: '1', CARGO_TERM_COLOR: 'always' }
    : process.env;

/** The generated declarations must be those that are committed; without a git checkout nothing says so. */
async function drift() {
  if (!existsSync(join(root, '.git'))) return { code: 0, text: '' };
  const result = await attempt('git', ['diff', '--exit-code', '--stat', '--', 'native/binding.d.ts']);
  if (result.code !== 0) {
    console.error('native/binding.d.ts is not what the sources generate: commit the rebuilt file.');
  }
  return result;
}

// The rooms come first: they compile the engine and what the sandbox binary of the next step needs.
const steps = [
  ['fmt', ready ? 'format the Rust sources' : 'Rust formatting', command('cargo', 'fmt', ...(ready ? [] : ['--check']))],
  ['rooms', 'Rust tests of the rooms, without Node', command('cargo', 'test', ...roomFeatures)],
  ['build', 'addon, sandbox binary, compiled face', async () => {
    await ensureNative();
    await ensureDist();
    return { code: 0, text: '' };
  }],
  ['drift', 'generated declarations', drift],
  ['door', 'Rust tests with the door', command('cargo', 'test')],
  ['clippy', 'lints with the door', command('cargo', 'clippy', '--all-targets', ...denyWarnings)],
  ['clippy-rooms', 'lints of the rooms', command('cargo', 'clippy', '--all-targets', ...roomFeatures, ...denyWarnings)],
  ['tsc', 'TypeScript', command(bin('tsc'), '-p', 'tsconfig.json')],
  ['types', 'type tests', command(bin('tsc'), '-p', 'tsconfig.test-d.json')],
  ['api', ready ? 'write the API reference' : 'API reference', command(process.execPath, 'scripts/docs-api.mjs', ...(ready ? [] : ['--check']))],
  ['nodes', 'other Node versions', async () => ({ code: (await ensureOtherNodes()) ? 0 : 1, text: '' })],
  ['vitest', 'JavaScript tests: rooms, packaging, documentation', command(bin('vitest'), 'run')],
];

const escapes = /\x1b\[[0-9;]*m/g;

/** Adds the numbers that cargo and vitest close with. */
function count(text, totals) {
  const plain = text.replace(escapes, '');
  for (const [, passed, failed, ignored] of plain.matchAll(/^test result: \S+ (\d+) passed; (\d+) failed; (\d+) ignored/gm)) {
    totals.passed += Number(passed);
    totals.failed += Number(failed);
    totals.skipped += Number(ignored);
  }
  for (const [, line] of plain.matchAll(/^\s+Tests\s+(.*)$/gm)) {
    for (const [, number, word] of line.matchAll(/(\d+) (passed|failed|skipped)/g)) totals[word] += Number(number);
  }
}

await ensureTools();
await ensurePackages();

const totals = { passed: 0, failed: 0, skipped: 0 };
const rows = [];
for (const [name, title, work] of steps) {
  if ((only && !only.includes(name)) || skip.includes(name)) continue;
  say(`${name}: ${title}`);
  const start = performance.now();
  const { code, text } = await work();
  count(text, totals);
  rows.push({ name, title, ok: code === 0, seconds: (performance.now() - start) / 1000 });
}

console.log(`\n${bold('Summary')}`);
for (const { name, title, ok, seconds } of rows) {
  console.log(`  ${ok ? 'ok    ' : 'FAILED'}  ${name.padEnd(13)} ${`${seconds.toFixed(1)} s`.padStart(9)}  ${title}`);
}
const bad = rows.filter((row) => !row.ok);
if (bad.length > 0) console.log(`\nAgain, only these: npm test -- --only=${bad.map((row) => row.name).join(',')}`);
console.log(`\n${totals.passed} passed, ${Math.max(totals.failed, bad.length)} failed, ${totals.skipped} skipped`);
process.exitCode = bad.length > 0 ? 1 : 0;
