// `npm run bench -- [options]`: builds what is stale, optimised, and measures. See bench/run.mjs.
// `--dev` measures the dev build, which says nothing about speed but shows that the rows run.
import { attempt, setUp } from './lib.mjs';

const args = process.argv.slice(2);
const measuring = !args.includes('--compare');
if (measuring) await setUp({ release: !args.includes('--dev') });
const { code } = await attempt(process.execPath, ['bench/run.mjs', ...args.filter((arg) => arg !== '--dev')]);
process.exitCode = code;
