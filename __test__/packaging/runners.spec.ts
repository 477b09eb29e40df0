// Suites of our users, under the test runners they have.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodeBinary, otherNodes } from '../../scripts/other-nodes.mjs';
import { command, createApp, oneCall, oneCallImports, root, tool } from './app.js';
import type { App } from './app.js';

let app: App;
beforeAll(() => {
  app = createApp('runners');
});
afterAll(() => app?.remove());

const script = `runBridgedSource({ source: 'return new Map([[1, [2, new Date(3)]]])', allowedTools: [], dispatch: async () => undefined })`;

test('node --test', () => {
  app.write(
    'suite.node.mjs',
    `import assert from 'node:assert'; import test from 'node:test';
     ${oneCallImports} import { runBridgedSource } from 'ferrule/sandbox';
     ${oneCall}
     test('a call', async () => assert.equal((await run())[0].outcome.output, 'hello you'));
     test('a script', async () => assert.deepEqual((await ${script}).output, new Map([[1, [2, new Date(3)]]])));`,
  );
  const ended = command(process.execPath, ['--test', 'suite.node.mjs'], { cwd: app.folder });
  expect(ended.status, ended.stdout).toBe(0);
  expect(ended.stdout).toMatch(/pass 2/);
});

test.each(['forks', 'threads', 'vmThreads'])('vitest, in %s', (pool) => {
  app.write(
    'suite.vitest.ts',
    `import { expect, test, vi } from ${JSON.stringify(join(root, 'node_modules', 'vitest', 'dist', 'index.js'))};
     ${oneCallImports} import { resolveSandbox, runBridgedSource } from 'ferrule/sandbox';
     import { createTaintLedger } from 'ferrule/dataflow'; import { createAuditOnlyGuard, onMemoryGuardAudit } from 'ferrule/guard';
     ${oneCall}
     test('a call', async () => expect((await run())[0]!.outcome).toMatchObject({ output: 'hello you' }));
     // Where a suite has a context of its own, toStrictEqual tells its objects from those of the process.
     test('what is made natively is of the suite', async () => {
       const rows: unknown[] = [];
       await createToolExecutor({ registry, emitAudit: (row) => { rows.push(row.metadata); } }).executeBatch({ calls: [{ toolCallId: 'c', toolName: 'greet', args: { name: 'you' } }], runContext, stepNumber: 1 });
       expect(rows[0]).toStrictEqual({ sandboxKind: 'worker-threads', sideEffectClass: 'pure', memoryGuardTier: 'unknown' });
       expect(resolveSandbox({ trustLevel: 'built-in' })).toStrictEqual({ kind: 'none', noNetwork: false, noFilesystem: false, timeoutMs: 0, maxMemoryMb: 0, forced: false, reason: expect.any(String) });
       const ledger = createTaintLedger();
       ledger.recordOutput({ trustClass: 'mcp-derived', sourceKind: 'mcp', sensitivity: 'unknown', untrusted: true, sensitive: false }, 'a sentence long enough to be found again');
       expect(ledger.inspectArgs('a sentence long enough to be found')).toStrictEqual({ carriesUntrustedVerbatim: true, matchedSourceKinds: ['mcp'] });
       expect(ledger.snapshot()).toStrictEqual({ untrustedSeen: true, sensitiveSeen: false, untrustedSourceKinds: ['mcp'], spanTileHashes: [...ledger.snapshot().spanTileHashes!] });
       let memory = 'before'; const guard = createAuditOnlyGuard(); const reader = { regions: ['r'], read: async () => memory };
       const regions: unknown[] = []; onMemoryGuardAudit((row) => { if (row.action === 'memory:guard:mismatch') regions.push(row.regions); });
       const before = await guard.snapshot(reader); memory = 'after'; await guard.verify(before, reader);
       expect(regions).toStrictEqual([['r']]);
     });
     test('a script', async () => expect(await ${script}).toMatchObject({ ok: true, output: new Map([[1, [2, new Date(3)]]]) }));
     test('fake timers', async () => {
       vi.useFakeTimers();
       expect((await run())[0]!.outcome).toMatchObject({ output: 'hello you' });
       vi.useRealTimers();
     });`,
  );
  app.write('vitest.config.mjs', `export default { test: { include: ['suite.vitest.ts'], pool: '${pool}' } };`);
  const ended = command(tool('vitest'), ['run', '--root', app.folder], { cwd: app.folder });
  expect(ended.status, `${ended.stdout}${ended.stderr}`).toBe(0);
  expect(ended.stdout).toMatch(/4 passed/);
});

describe('jest', () => {
  const jest = (node: string, flags: readonly string[], file: string): ReturnType<typeof command> =>
    command(node, [...flags, join(root, 'node_modules', 'jest', 'bin', 'jest.js'), '--rootDir', app.folder, '--config', 'jest.json', '--no-cache', file], {
      cwd: app.folder,
    });
  const modules = ['--experimental-vm-modules', '--no-warnings'];
  const newest = nodeBinary(Object.keys(otherNodes).at(-1)!);

  beforeAll(() => {
    app.write('jest.json', JSON.stringify({ testMatch: ['**/jest-*.?(m|c)js'], transform: {}, testEnvironment: 'node' }));
    const tests = `test('a call', async () => expect((await run())[0].outcome.output).toBe('hello you'));
      test('a script', async () => expect((await ${script}).output).toEqual(new Map([[1, [2, new Date(3)]]])));`;
    const names = `const { createToolExecutor, createToolRegistry, tool } = LOAD('ferrule'); const { NOOP_TRACER, zeroUsage } = LOAD('ferrule/core');
      const { runBridgedSource } = LOAD('ferrule/sandbox'); const { z } = LOAD('zod');`;
    app.write('jest-esm.mjs', `${oneCallImports} import { runBridgedSource } from 'ferrule/sandbox'; ${oneCall} ${tests}`);
    app.write(
      'jest-dynamic.cjs',
      `let run, runBridgedSource; beforeAll(async () => {
         ${names.replaceAll('LOAD', 'await import').replace('const { runBridgedSource }', '({ runBridgedSource }').replace("import('ferrule/sandbox');", "import('ferrule/sandbox'));")}
         ${oneCall.replace('const run =', 'run =')}
       }); ${tests}`,
    );
    app.write('jest-require.cjs', `${names.replaceAll('LOAD', 'require')} ${oneCall} ${tests}`);
  });

  test.each(['jest-esm.mjs', 'jest-dynamic.cjs'])('%s, with the modules of Node', (file) => {
    const ended = jest(process.execPath, modules, file);
    expect(ended.status, ended.stderr).toBe(0);
    expect(ended.stderr).toMatch(/2 passed/);
  });

  test.skipIf(!existsSync(newest))('require() needs a Node that has it for modules inside vm', () => {
    const ended = jest(newest, modules, 'jest-require.cjs');
    expect(ended.status, ended.stderr).toBe(0);
    expect(ended.stderr).toMatch(/2 passed/);
  });
});
