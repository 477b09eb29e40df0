// The rules of CONTRIBUTING.md that a machine can check: which room may use which, where napi may
// be named, how long a file may be.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const longest = 500;

/** Files that may be longer, how much, and why. */
const longer: Readonly<Record<string, number>> = {
  // One implementation of one trait, which cannot be spread over files; its methods are one line each.
  'src/node/executor/host.rs': 700,
};
/** Tables of cases grow with what is tested, and are read one case at a time. */
const isTest = (path: string): boolean => /\/tests\/|(^|\/|_)tests\.rs$/.test(path);

/**
 * Rooms of Rust, lowest first. A room uses rooms of lower layers only, so that no two ever need each
 * other. `node` is the door and sees all.
 */
const rustLayers = [
  ['value'],
  ['audit', 'schema', 'secrets'],
  ['tool', 'inbound', 'outbound'],
  ['dataflow', 'guard', 'policy', 'result', 'streaming', 'registry', 'sandbox'],
  ['executor'],
  ['node'],
];

/** Rooms of TypeScript, lowest first. */
const faceLayers = [
  ['core', 'value'],
  ['errors'],
  ['audit', 'secrets', 'schema'],
  ['dataflow', 'guard', 'policy', 'inspect'],
  ['builder', 'inbound', 'outbound', 'streaming', 'sandbox'],
  ['result', 'registry'],
  ['built-in', 'code-mode'],
  ['executor'],
];

interface Source {
  /** Path below the repository, with `/`. */
  readonly path: string;
  readonly text: string;
}

function sources(folder: string, ending: string): Source[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: relative(root, file).split(sep).join('/'), text: readFileSync(file, 'utf8') }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

const rust = sources('src', '.rs');
const face = sources('js', '.ts');

/** `src/result/spill.rs` -> `result`; files beside the rooms have none. */
const roomOf = (path: string): string | undefined => {
  const parts = path.split('/');
  return parts.length > 2 ? parts[1] : undefined;
};

const layerOf = (layers: readonly (readonly string[])[], room: string): number =>
  layers.findIndex((layer) => layer.includes(room));

const lines = (text: string): number => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);

/** Comments may name what code must not. */
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');

/** What `crate::a::b` and `use crate::{a, b::c}` name. */
function crateRooms(text: string): Set<string> {
  const code = withoutComments(text);
  const found = new Set<string>();
  for (const [, name] of code.matchAll(/\bcrate::([a-z_]+)/g)) found.add(name!);
  for (const [, group] of code.matchAll(/\bcrate::\{([\s\S]*?)\};/g)) {
    for (const [, name] of `,${group}`.matchAll(/,\s*([a-z_]+)/g)) found.add(name!);
  }
  return found;
}

/** Rooms that a TypeScript file imports from. */
function faceRooms(source: Source): Set<string> {
  const found = new Set<string>();
  for (const [, target] of withoutComments(source.text).matchAll(/from\s+'(\.[^']+)'/g)) {
    const file = relative(root, resolve(root, dirname(source.path), target!)).split(sep).join('/');
    const room = file.startsWith('js/') ? roomOf(file) : undefined;
    if (room) found.add(room);
  }
  return found;
}

function breaches(
  layers: readonly (readonly string[])[],
  files: readonly Source[],
  usedBy: (source: Source) => Set<string>,
): string[] {
  return files.flatMap((source) => {
    const room = roomOf(source.path);
    if (room === undefined || room === 'bin') return [];
    const own = layerOf(layers, room);
    if (own < 0) return [`${source.path}: the room ${room} has no layer in this test`];
    return [...usedBy(source)]
      .filter((used) => used !== room && layerOf(layers, used) >= own)
      .map((used) => `${source.path}: ${room} must not use ${used}`);
  });
}

describe('rooms depend in one direction', () => {
  test('Rust', () => {
    expect(breaches(rustLayers, rust, (source) => crateRooms(source.text))).toEqual([]);
  });

  test('TypeScript', () => {
    expect(breaches(faceLayers, face, faceRooms)).toEqual([]);
  });

  test('every room of Rust has a layer, and every layer a room', () => {
    const rooms = new Set(rust.map(({ path }) => roomOf(path)).filter((room) => room !== undefined && room !== 'bin'));
    expect([...rooms].sort()).toEqual(rustLayers.flat().sort());
  });

  test('a breach is found (this test can fail)', () => {
    const wrong: Source = { path: 'src/value/a.rs', text: 'use crate::{\n  executor::run,\n  node,\n};\nuse crate::audit::X;' };
    expect(breaches(rustLayers, [wrong], (source) => crateRooms(source.text))).toHaveLength(3);
    const face: Source = { path: 'js/core/a.ts', text: "import { x } from '../executor/index.js';" };
    expect(breaches(faceLayers, [face], faceRooms)).toHaveLength(1);
  });
});

describe('the door', () => {
  test('napi is named in src/node only', () => {
    const named = rust
      .filter(({ path }) => !path.startsWith('src/node/'))
      .filter(({ text }) => /\bnapi(_derive|_sys)?\b/.test(withoutComments(text)))
      .map(({ path }) => path);
    expect(named).toEqual([]);
  });

  test('an exported item contains panics: a panic in a plain one would end the process', () => {
    const open = rust
      .filter(({ path }) => path.startsWith('src/node/'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/#\[napi(\([^\]]*\))?\]\s*((?:#\[[^\]]*\]\s*)*)pub\s+(?:const\s+)?fn\s+(\w+)/g)]
          // A constructor stores what it is given.
          .filter(([, options]) => !/catch_unwind|constructor/.test(options ?? ''))
          .map(([, , , name]) => `${path}: ${name}`),
      );
    expect(open).toEqual([]);
  });

  test('the addon is loaded in js/binding.ts only, with js/addon.ts as its helper', () => {
    const helped = face.filter(({ text }) => text.includes("/addon.js'")).map(({ path }) => path);
    expect(helped).toEqual(['js/binding.ts']);
    const loaders = face
      .filter(({ path }) => path !== 'js/binding.ts' && path !== 'js/addon.ts')
      .filter(({ text }) => /binding\.cjs|\.node['"]/.test(withoutComments(text)))
      .map(({ path }) => path);
    expect(loaders).toEqual([]);
  });
});

describe('files', () => {
  test.each([
    ['Rust', rust],
    ['TypeScript', face],
  ])(`%s files have at most ${longest} lines`, (_, files) => {
    const long = files
      .filter(({ path, text }) => !isTest(path) && lines(text) > (longer[path] ?? longest))
      .map(({ path, text }) => `${path}: ${lines(text)}`);
    expect(long).toEqual([]);
  });

  test('every Rust file says at its head what it is', () => {
    expect(rust.filter(({ text }) => !text.startsWith('//!')).map(({ path }) => path)).toEqual([]);
  });
});

describe('what is committed', () => {
  const git = (...args: string[]): string[] => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    // `git grep` ends with 1 when nothing matches; anything above is a failure of its own.
    if (status === null || status > 1) throw new Error(`git ${args[0]}: ${stderr}`);
    return stdout.split('\n').filter(Boolean);
  };
  const halfMerged = '^(<{7}|[|]{7}|>{7})( |$)';

  test('no file is half merged', () => {
    expect(git('grep', '--untracked', '-nIE', halfMerged)).toEqual([]);
  });

  test('a half merged file is found (this test can fail)', () => {
    expect(new RegExp(halfMerged, 'm').test(`text\n${'<'.repeat(7)} ours\n`)).toBe(true);
    expect(git('grep', '-lE', '^## What each layer does$')).toContain('SECURITY.md');
  });
});
