// A host of its own, watched from outside: runs attempts one after another and reports what it noticed
// about itself on descriptor 3. Nothing may appear on stdout or stderr.
import { readFileSync, readdirSync, writeSync } from 'node:fs';
import { runBridgedSource } from '../../dist/sandbox/index.js';

const attempts = JSON.parse(readFileSync(0, 'utf8'));
const openFiles = () => readdirSync('/proc/self/fd').length;
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

// How long the loop was kept busy: the time between two ticks, as far as this process used the CPU in
// it. Waiting for a busy machine is not the sandbox's doing.
let worst = 0;
let last = performance.now();
let used = cpu();
setInterval(() => {
  const [now, spent] = [performance.now(), cpu()];
  worst = Math.max(worst, Math.min(now - last, spent - used));
  [last, used] = [now, spent];
}, 2).unref();

const dispatch = async ({ name, args }) => {
  if (name === 'host') return { constructor: 'mine', list: [1, 2] };
  if (name === 'reject') throw new Error('rejected');
  return args;
};
const run = (source, options = {}) => runBridgedSource({ source, allowedTools: ['echo', 'host', 'reject'], dispatch, ...options });

globalThis.secret = 'host-secret';
await run('return 1');
await run('return 1');
const files = openFiles();
for (const { name, source, options } of attempts) {
  worst = 0;
  const started = performance.now();
  const { console: _lines, ...result } = await run(source, { timeoutMs: 1000, maxMemoryMb: 64, ...options });
  const took = performance.now() - started;
  // Two turns, so that a late tick is counted.
  await new Promise((resolve) => setTimeout(resolve, 6));
  const busy = worst;
  const next = await run('return 40 + 2', { timeoutMs: 10_000 });
  let shown;
  try {
    shown = JSON.stringify(result)?.slice(0, 2000);
  } catch (error) {
    shown = JSON.stringify({ ...result, output: String(error.message) });
  }
  writeSync(3, `${JSON.stringify({ name, result: JSON.parse(shown.length < 2000 ? shown : '{"ok":true,"output":"long"}'), took, busy, next: next.ok && next.output === 42, rss: process.memoryUsage.rss() })}\n`);
}
await new Promise((resolve) => setTimeout(resolve, 50));
writeSync(3, `${JSON.stringify({ name: 'after', files: openFiles() - files, handles: process.getActiveResourcesInfo().filter((one) => one !== 'PipeWrap' && one !== 'Timeout') })}\n`);
