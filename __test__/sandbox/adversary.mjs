// A host of its own, watched from outside: runs attempts one after another and reports what it noticed
// about itself on descriptor 3. Nothing may appear on stdout or stderr.
import { openSync, readFileSync, readSync, readdirSync, writeSync } from 'node:fs';
import { runBridgedSource } from '../../dist/sandbox/index.js';

const attempts = JSON.parse(readFileSync(0, 'utf8'));
const openFiles = () => readdirSync('/proc/self/fd').length;
// CPU time of this thread in milliseconds: what the kernel's other threads, the collector's helpers and
// other processes do meanwhile is not the event loop's.
const clock = openSync('/proc/thread-self/schedstat');
const cpu = () => {
  const text = Buffer.alloc(64);
  return parseInt(text.latin1Slice(0, readSync(clock, text, 0, 64, 0)), 10) / 1e6;
};

// How long the loop was kept busy: the time between two ticks, as far as this thread computed in it.
// The rest of a tick that is very late is the machine's doing, which is added up apart.
let worst = 0;
let starved = 0;
let last = performance.now();
let used = cpu();
setInterval(() => {
  const [now, spent] = [performance.now(), cpu()];
  worst = Math.max(worst, Math.min(now - last, spent - used));
  starved += Math.max(0, now - last - Math.max(spent - used, 20));
  [last, used] = [now, spent];
}, 2).unref();

const dispatch = async ({ name, args }) => {
  if (name === 'host') return { constructor: 'mine', list: [1, 2] };
  if (name === 'reject') throw new Error('rejected');
  if (name === 'records') return Array.from({ length: args.count }, (_, id) => ({ id, name: `name ${id}`, price: id / 2, tags: null, seen: args.seen ? new Date(id) : true }));
  if (name === 'text') return 'é'.repeat(args);
  // Planted, to show that a stall would be noticed.
  if (name === 'stall') for (const end = cpu() + args; cpu() < end; );
  return args;
};
const run = (source, options = {}) => runBridgedSource({ source, allowedTools: ['echo', 'host', 'reject', 'records', 'text', 'stall'], dispatch, ...options });

globalThis.secret = 'host-secret';
await run('return 1');
await run('return 1');
const files = openFiles();
for (const { name, source, options } of attempts) {
  // What this file did itself is not counted.
  await new Promise((resolve) => setTimeout(resolve, 6));
  [worst, starved] = [0, 0];
  const started = performance.now();
  const { console: _lines, ...result } = await run(source, { timeoutMs: 1000, maxMemoryMb: 64, ...options });
  const took = performance.now() - started;
  // Two turns, so that a late tick is counted.
  await new Promise((resolve) => setTimeout(resolve, 6));
  const [busy, late] = [worst, starved];
  const next = await run('return 40 + 2', { timeoutMs: 10_000 });
  let shown;
  try {
    shown = JSON.stringify(result)?.slice(0, 2000);
  } catch (error) {
    shown = JSON.stringify({ ...result, output: String(error.message) });
  }
  writeSync(3, `${JSON.stringify({ name, result: JSON.parse(shown.length < 2000 ? shown : '{"ok":true,"output":"long"}'), took: took - late, busy, next: next.ok && next.output === 42, rss: process.memoryUsage.rss() })}\n`);
}
await new Promise((resolve) => setTimeout(resolve, 50));
writeSync(3, `${JSON.stringify({ name: 'after', files: openFiles() - files, handles: process.getActiveResourcesInfo().filter((one) => one !== 'PipeWrap' && one !== 'Timeout') })}\n`);
