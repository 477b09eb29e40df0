// Fills the platform packages in `npm/` for publishing.
//
//   node scripts/npm-packages.mjs [--check]            versions, and this machine's binaries from native/
//   node scripts/npm-packages.mjs --from=DIR           binaries of every platform from DIR/<triple>/
//   node scripts/npm-packages.mjs --stage=DIR          the package itself as it is published, into DIR
//
// Sets every package's version to the one of package.json, copies the addon and the sandbox binary in,
// keeps the sandbox executable, and refuses a file made for another C library than its package says
// (a glibc binary in a musl package loads nowhere and blames npm). `--check` changes nothing and fails
// when a version is behind.
//
// What is published of the package itself is no plain `npm pack` of the checkout, which holds this
// machine's binaries so that it installs without a registry: the staged folder has none, and names the
// platform packages as optional dependencies of exactly its own version.
import { chmodSync, closeSync, copyFileSync, cpSync, existsSync, mkdirSync, openSync, readFileSync, readSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { platformTriple, root, say } from './lib.mjs';

const check = process.argv.includes('--check');
const from = process.argv.find((arg) => arg.startsWith('--from='))?.slice('--from='.length);
const version = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;

/** What the first bytes of a file say it was built for. */
export function kindOf(file) {
  const head = Buffer.alloc(64);
  const fd = openSync(file, 'r');
  try {
    readSync(fd, head, 0, head.length, 0);
  } finally {
    closeSync(fd);
  }
  if (head.readUInt32BE(0) === 0x7f454c46) {
    const machine = { 0x3e: 'x64', 0xb7: 'arm64' }[head.readUInt16LE(18)] ?? 'unknown';
    // The names of the needed libraries stand in the file as plain text.
    const text = readFileSync(file, 'latin1');
    const libc = text.includes('libc.so.6\0') ? 'gnu' : text.includes('libc.musl-') || text.includes('libc.so\0') ? 'musl' : 'static';
    return { os: 'linux', cpu: machine, libc };
  }
  if (head.readUInt32LE(0) === 0xfeedfacf) {
    return { os: 'darwin', cpu: { 0x01000007: 'x64', 0x0100000c: 'arm64' }[head.readUInt32LE(4)] ?? 'unknown' };
  }
  if (head.toString('latin1', 0, 2) === 'MZ') return { os: 'win32', cpu: 'x64' };
  return { os: 'unknown', cpu: 'unknown' };
}

/** Why a file must not go into a package, or undefined. */
export function misfit(manifest, file) {
  const kind = kindOf(file);
  if (kind.os !== manifest.os[0]) return `made for ${kind.os}, not ${manifest.os[0]}`;
  if (kind.cpu !== manifest.cpu[0]) return `made for ${kind.cpu}, not ${manifest.cpu[0]}`;
  const wanted = { glibc: 'gnu', musl: 'musl' }[manifest.libc?.[0]];
  if (wanted && kind.libc !== 'static' && kind.libc !== wanted) return `needs the C library of ${kind.libc}, not ${wanted}`;
  return undefined;
}

function fill() {
  let faults = 0;
  const fault = (text) => {
    faults += 1;
    console.error(text);
  };
  for (const triple of readdirSync(join(root, 'npm'))) {
    const folder = join(root, 'npm', triple);
    const path = join(folder, 'package.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    if (manifest.version !== version) {
      if (check) fault(`npm/${triple}: version ${manifest.version}, not ${version}`);
      else writeFileSync(path, readFileSync(path, 'utf8').replace(`"version": "${manifest.version}"`, `"version": "${version}"`));
    }
    if (check) continue;
    const source = from ? join(from, triple) : triple === platformTriple() ? join(root, 'native') : undefined;
    if (!source) continue;
    for (const name of manifest.files) {
      const file = join(source, name);
      if (!existsSync(file)) {
        fault(`npm/${triple}: ${file} is missing`);
        continue;
      }
      const why = misfit(manifest, file);
      if (why) {
        fault(`npm/${triple}: ${name} is ${why}`);
        continue;
      }
      copyFileSync(file, join(folder, name));
      chmodSync(join(folder, name), 0o755);
      say(`npm/${triple}/${name}: ${(statSync(file).size / 1e6).toFixed(1)} MB`);
    }
  }
  process.exitCode = faults > 0 ? 1 : 0;
}

/** Writes the folder that is published as the package itself. */
export function stage(folder) {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { scripts, devDependencies, napi, ...published } = manifest;
  const triples = readdirSync(join(root, 'npm')).sort();
  const files = manifest.files.filter((name) => !name.startsWith('!') && name !== 'native');
  const loaders = readdirSync(join(root, 'native')).filter((name) => /\.cjs$|\.d\.ts$/.test(name));
  mkdirSync(join(folder, 'native'), { recursive: true });
  for (const name of files) cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const name of loaders) copyFileSync(join(root, 'native', name), join(folder, 'native', name));
  const optionalDependencies = Object.fromEntries(triples.map((triple) => [`ferrule-${triple}`, version]));
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify({ ...published, files: [...files, 'native'], optionalDependencies }, undefined, 2)}\n`,
  );
}

const into = process.argv.find((arg) => arg.startsWith('--stage='))?.slice('--stage='.length);
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (into) stage(into);
  else fill();
}
