// Issue: install like our users do. The packed package in an empty app, on each Node it promises.
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodeBinary, otherNodes } from '../../scripts/other-nodes.mjs';
import beyond from './exports-beyond.json' with { type: 'json' };
import expected from './exports.json' with { type: 'json' };
import { command, createApp, filesOf, oneCall, root, specifier, subpaths } from './app.js';
import type { App } from './app.js';

let app: App;
beforeAll(() => {
  app = createApp('install');
});
afterAll(() => app?.remove());

const nodes: [string, string][] = [
  [process.version, process.execPath],
  ...Object.entries(otherNodes).map(([major, version]): [string, string] => [`v${version}`, nodeBinary(major)]),
];

const names = `
const list = ${JSON.stringify(subpaths.map((subpath) => [subpath, specifier(subpath)]))};
const show = (all) => console.log(JSON.stringify(all));
`;

describe.each(nodes)('Node %s', (_, node) => {
  const there = existsSync(node);

  test.skipIf(!there)('every subpath imports and requires, with the same names', () => {
    app.write(
      'names.mjs',
      `${names}const all = {}; for (const [s, m] of list) all[s] = Object.keys(await import(m)).sort(); show(all);`,
    );
    app.write(
      'names.cjs',
      `${names}const all = {}; for (const [s, m] of list) all[s] = Object.keys(require(m)).filter((k) => k !== '__esModule').sort(); show(all);`,
    );
    const imported = command(node, ['names.mjs'], { cwd: app.folder });
    expect(imported.stderr).toBe('');
    expect(imported.status).toBe(0);
    const required = command(node, ['names.cjs'], { cwd: app.folder });
    expect(required.status, required.stderr).toBe(0);
    const all = JSON.parse(imported.stdout) as Record<string, string[]>;
    expect(JSON.parse(required.stdout)).toEqual(all);
    const missing = Object.fromEntries(
      Object.entries(expected as Record<string, string[]>)
        .map(([subpath, list]): [string, string[]] => [subpath, list.filter((name) => !all[subpath]?.includes(name))])
        .filter(([, list]) => list.length > 0),
    );
    expect(missing).toEqual({});
    // What we offer on top is written down: a name more is a decision, never an accident.
    const more = Object.fromEntries(
      Object.entries(all)
        .map(([subpath, list]): [string, string[]] => [
          subpath,
          list.filter((name) => !(expected as Record<string, string[]>)[subpath]?.includes(name)),
        ])
        .filter(([, list]) => list.length > 0),
    );
    expect(more).toEqual(beyond);
  });

  test.skipIf(!there)('one module instance, whether imported or required', () => {
    app.write(
      'same.mjs',
      `import { createRequire } from 'node:module';
       import * as imported from 'ferrule/errors';
       const required = createRequire(import.meta.url)('ferrule');
       console.log(imported.DuplicateToolNameError === required.DuplicateToolNameError);`,
    );
    expect(command(node, ['same.mjs'], { cwd: app.folder }).stdout).toBe('true\n');
  });

  test.skipIf(!there)('an import loads no addon, no schema library and none of the modules of Node that are slow to load', () => {
    app.write(
      'light.mjs',
      `const before = new Set(process.moduleLoadList);
       const { createToolSearchTool, createToolRegistry } = await import('ferrule');
       const { createCodeSearchTool, projectToolApi } = await import('ferrule/code-mode');
       for (const subpath of ${JSON.stringify(subpaths.map(specifier))}) await import(subpath);
       createToolSearchTool({ registry: createToolRegistry() });
       createCodeSearchTool({ projection: projectToolApi([]) });
       const loaded = process.moduleLoadList.filter((name) => !before.has(name)).map((name) => name.replace(/^NativeModule /, ''));
       const slow = ['child_process', 'crypto', 'fs/promises', 'http', 'net', 'os', 'stream', 'vm', 'worker_threads'];
       console.log(JSON.stringify({
         slow: loaded.filter((name) => slow.includes(name)),
         addons: process.report.getReport().sharedObjects.filter((path) => path.endsWith('.node')),
       }));`,
    );
    const zod = join(app.folder, 'node_modules', 'zod');
    renameSync(zod, `${zod}-away`);
    const ended = command(node, ['light.mjs'], { cwd: app.folder });
    renameSync(`${zod}-away`, zod);
    expect(ended.stderr).toBe('');
    expect(JSON.parse(ended.stdout)).toEqual({ slow: [], addons: [] });
  });

  test.skipIf(!there)('P64: a script that runs one call ends by itself, at once', () => {
    app.write(
      'call.mjs',
      `import { createToolExecutor, createToolRegistry, tool } from 'ferrule';
       import { NOOP_TRACER, zeroUsage } from 'ferrule/core';
       import { z } from 'zod';
       ${oneCall}
       const [done] = await run();
       console.log(JSON.stringify(done.outcome.output));
       const from = performance.now();
       process.on('exit', () => console.log(performance.now() - from < 1000 ? 'at once' : 'late: ' + (performance.now() - from)));`,
    );
    const ended = command(node, ['call.mjs'], { cwd: app.folder, timeout: 30_000 });
    expect(ended.stderr).toBe('');
    expect(ended).toMatchObject({ status: 0, signal: null, stdout: '"hello you"\nat once\n' });
  });

  test.skipIf(!there)('P64: a call in flight keeps the process alive until it has settled', () => {
    app.write(
      'flight.mjs',
      `import { createToolExecutor, createToolRegistry, tool } from 'ferrule';
       import { NOOP_TRACER, zeroUsage } from 'ferrule/core';
       import { z } from 'zod';
       ${oneCall}
       registry.register(tool({ name: 'slow', description: 'Waits.', inputSchema: z.object({}), sideEffectClass: 'pure',
         execute: () => new Promise((resolve) => setTimeout(resolve, 300, 'done')) }));
       executor.executeOne({ call: { toolCallId: 'x', toolName: 'slow', args: {} }, runContext, stepNumber: 1 })
         .then((done) => console.log(done.outcome.output));`,
    );
    expect(command(node, ['flight.mjs'], { cwd: app.folder, timeout: 30_000 }).stdout).toBe('done\n');
  });

  test.skipIf(!there)('P65: workers load it, some are ended in the middle of a call', () => {
    app.write(
      'workers.mjs',
      `import { Worker, isMainThread, parentPort } from 'node:worker_threads';
       import { createToolExecutor, createToolRegistry, tool } from 'ferrule';
       import { NOOP_TRACER, zeroUsage } from 'ferrule/core';
       import { z } from 'zod';
       ${oneCall}
       registry.register(tool({ name: 'never', description: 'Never ends.', inputSchema: z.object({}), sideEffectClass: 'pure',
         execute: () => new Promise(() => {}) }));
       if (isMainThread) {
         const workers = Array.from({ length: 8 }, () => new Worker(new URL(import.meta.url)));
         await Promise.all(workers.map((worker, index) => new Promise((resolve, reject) => {
           worker.on('error', reject);
           worker.on('message', () => (index % 2 ? worker.terminate().then(resolve) : worker.postMessage('end')));
           if (index % 2 === 0) worker.on('exit', resolve);
         })));
         console.log((await run())[0].outcome.output);
       } else {
         parentPort.on('message', () => process.exit(0));
         const [done] = await run();
         void executor.executeOne({ call: { toolCallId: 'n', toolName: 'never', args: {} }, runContext, stepNumber: 1 });
         parentPort.postMessage(done.outcome.output);
       }`,
    );
    const ended = command(node, ['workers.mjs'], { cwd: app.folder, timeout: 60_000 });
    expect(ended, ended.stderr).toMatchObject({ status: 0, signal: null, stdout: 'hello you\n' });
  });
});

describe('the tarball', () => {
  test('holds what runs and what is read, and nothing of the workshop', () => {
    const files = filesOf(app.installed).map((file) => file.slice(app.installed.length + 1).replaceAll('\\', '/'));
    for (const wanted of ['package.json', 'README.md', 'LICENSE', 'index.js', 'index.d.ts', 'native/binding.cjs', 'native/binding.d.ts', 'dist/index.js']) {
      expect(files).toContain(wanted);
    }
    expect(files.filter((file) => /^(src|js|scripts|target|__test__|bench|npm|examples)\//.test(file))).toEqual([]);
    expect(files.filter((file) => /(^|\/)\.|\.map$|\.rs$|\.spec\./.test(file))).toEqual([]);
  });

  test('runs nothing at install time', () => {
    const manifest = JSON.parse(readFileSync(join(app.installed, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post)?install$/.test(name))).toEqual([]);
  });

  test('VERSION is the version of package.json (spec 01 section 1)', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    const shown = command(process.execPath, ['-p', 'require("ferrule").VERSION'], { cwd: app.folder });
    expect(shown.stdout.trim()).toBe(manifest.version);
  });
});
