// Everything a checkout needs before it can run: packages, addon, sandbox binary, compiled face.
// `--release` builds the optimised binaries that are published.
import { ensureDist, ensureNative, ensurePackages, say } from './lib.mjs';

const release = process.argv.includes('--release');
ensurePackages();
ensureNative({ release });
ensureDist();
say('ready');
