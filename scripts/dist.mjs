// Bundles the TypeScript face into `dist/`, in few pieces: Node takes longer to find a hundred small
// files than to run them, and what two subpaths share must stay one module, so that there is one class
// for each error. The pieces:
//
//   shared-base     contracts, errors and `tool()`: all that `ferrule/core`, `/errors`, `/builder` load;
//                   nothing of Node, so that it works in browsers
//   shared-main     whatever else `import "ferrule"` needs, in one file
//   shared-more     what only the further subpaths need and share with each other
//
// Beside them one small file for each subpath. All lie at the top of `dist/`: what finds the addon does
// so from its own place.
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './lib.mjs';

const BASE = /^js\/(core|errors|value|builder)\//;

/** The sources that become files of `dist/` of their own: the public subpaths, and two for measurements. */
function entries() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const subpaths = Object.values(exports)
    .map((target) => target.default?.match(/^\.\/dist\/(.*)\.js$/)?.[1])
    .filter(Boolean);
  return ['index', ...subpaths, 'binding', 'inbound/sanitize'];
}

const pathOf = (id) => relative(root, id).split(sep).join('/');
const bundle = (input) => rolldown({ cwd: root, input, preserveEntrySignatures: 'allow-extension', platform: 'node', external: /^[^./]/, logLevel: 'warn' });

/** The files whose code is part of what `import "ferrule"` runs. */
async function neededByMain() {
  const alone = await bundle({ index: 'js/index.ts' });
  const { output } = await alone.generate({ format: 'esm' });
  await alone.close();
  const kept = output.flatMap(({ modules = {} }) => Object.entries(modules)).filter(([, { renderedLength }]) => renderedLength > 0);
  return new Set(kept.map(([id]) => pathOf(id)));
}

const main = await neededByMain();
const all = await bundle(Object.fromEntries(entries().map((name) => [name, `js/${name}.ts`])));
await all.write({
  dir: 'dist',
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'shared-[name].js',
  // The declarations carry the documentation; here it would only be read past at each start.
  comments: false,
  codeSplitting: {
    // A barrel that is needed for one name must not take along all its others.
    includeDependenciesRecursively: false,
    groups: [
      { name: 'base', test: (id) => BASE.test(pathOf(id)), priority: 3 },
      { name: 'main', test: (id) => main.has(pathOf(id)), priority: 2 },
      { name: 'more', test: (id) => pathOf(id).startsWith('js/'), minShareCount: 2, priority: 1 },
    ],
  },
});
await all.close();
