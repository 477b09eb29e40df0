// Everything a checkout needs before it can run: packages, addon, sandbox binary, compiled face.
// `--release` builds the optimised binaries that are published.
import { say, setUp } from './lib.mjs';

await setUp({ release: process.argv.includes('--release') });
say('ready');
