import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createWorkerThreadsSandbox, type SandboxRunOptions } from 'ferrule/sandbox';

const module = new URL('./fixtures/handlers.mjs', import.meta.url).href;
const common = fileURLToPath(new URL('./fixtures/common.cjs', import.meta.url));
const run = (name: string, input: unknown, opts: Partial<SandboxRunOptions> = {}) =>
  createWorkerThreadsSandbox().run({ kind: 'handler', module, export: name }, { input, ...opts });
const violation = { ok: false, error: { kind: 'sandbox-violation', message: expect.stringContaining('denied') } };

afterEach(() => vi.unstubAllEnvs());

describe('a worker sees no environment but its own, whatever the flags', () => {
  const ways = 'getReport writeReport processBinding linkedBinding v8Flags testRunner testRunnerRequired';
  for (const way of ways.split(' ')) {
    for (const opts of [{}, { allowFs: false, allowNetwork: false }]) {
      it(`${way} ${JSON.stringify(opts)}`, async () => {
        vi.stubEnv('FERRULE_TEST_SECRET', 'of the host');
        expect(await run('escape', way, opts)).toMatchObject(violation);
        expect(existsSync('ferrule-report.json')).toBe(false);
      });
    }
  }

  it('no report is written when something fails either', async () => {
    expect(await run('reportSettings', undefined)).toMatchObject({ ok: false, error: { kind: 'execution-failed' } });
    // The host's own is what it was.
    expect(process.report?.reportOnUncaughtException).toBe(false);
    expect(process.report?.getReport()).toHaveProperty('environmentVariables');
  });
});

describe('noFilesystem', () => {
  const ways =
    'extensions ownCompile proxied sharedCompile wrap wrapper wrapperGetter heapSnapshot nearHeapLimit coverage traceEvents';
  for (const way of ways.split(' ')) {
    it(`closes ${way}`, async () => {
      const result = await run('fileEscape', { way, path: common }, { allowFs: false });
      rmSync('ferrule-worker.heapsnapshot', { force: true });
      expect(result).toMatchObject({ ok: false });
      expect(JSON.stringify(result)).not.toContain('text of a file');
    });
  }

  it('still loads modules, with what they load in turn', async () => {
    const expected = { ok: true, output: { answer: 42, secret: 'text of a file' } };
    expect(await run('loadCommonJs', common, { allowFs: false })).toMatchObject(expected);
  });
});
