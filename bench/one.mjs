// Runs the rows of one file and prints each as a line of JSON; see run.mjs.
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , file, only] = process.argv;
const print = (row) => process.stdout.write(`${JSON.stringify({ row })}\n`);
const { rows = [] } = await import(pathToFileURL(file));
for (const { name, goal, run } of rows) {
  if (only && !`${basename(file)} ${name}`.includes(only)) continue;
  globalThis.gc?.();
  try {
    const answer = await run();
    const { ms, yardstick, ...more } = typeof answer === 'number' ? { ms: answer } : answer;
    print({ name, goal, ms, ...(yardstick ? { yardstick } : {}), ...more });
  } catch (error) {
    print({ name, goal, error: String(error?.stack ?? error) });
  }
}
// Pools and timers of what was measured must not hold the run up.
process.exit(0);
