import { existsSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
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

describe('noNetwork', () => {
  const reach = async (way: string, opts: Partial<SandboxRunOptions>) => {
    let reached = false;
    const server = createServer((socket) => {
      reached = true;
      socket.end('connected');
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    const result = await run('netEscape', { way, port }, opts);
    await new Promise((closed) => server.close(closed));
    return { result, reached };
  };

  for (const way of ['ttyRead', 'ttyWrite', 'ttyImported', 'ttyExtended', 'streamWrap']) {
    it(`closes the socket behind ${way}`, async () => {
      expect(await reach(way, {})).toMatchObject({ result: { ok: true, output: 'connected' }, reached: true });
      expect(await reach(way, { allowNetwork: false })).toMatchObject({ result: { ok: false }, reached: false });
    });
  }

  it.each(['ReadStream', 'WriteStream'])('refuses tty.%s by name', async (name) => {
    expect(await run('terminal', name, { allowNetwork: false })).toMatchObject(violation);
    expect(await run('terminal', name)).toMatchObject({ ok: false, error: { kind: 'execution-failed' } });
  });

  it('leaves what libraries ask of tty', async () => {
    expect(await run('isTerminal', undefined, { allowNetwork: false })).toMatchObject({ ok: true, output: [false, false] });
  });
});
