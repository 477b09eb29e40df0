// A sandbox process that has been taken over cannot mislead its host (issue 6 point 2): forged,
// oversized, truncated, repeated and late frames are refused.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runBridgedSource } from 'ferrule/sandbox';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ferrule-forger-'));
  const binary = join(folder, 'forger');
  writeFileSync(binary, `#!/bin/sh\nexec '${process.execPath}' '${fileURLToPath(new URL('./forger.mjs', import.meta.url))}'\n`);
  chmodSync(binary, 0o755);
  vi.stubEnv('FERRULE_SANDBOX', binary);
  vi.stubEnv('FERRULE_SANDBOX_MODE', 'spawn');
});

afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const dispatched: unknown[] = [];
const run = (trick: string) => {
  dispatched.length = 0;
  return runBridgedSource({
    source: trick,
    allowedTools: ['echo', 'slow'],
    dispatch: async (call) => {
      dispatched.push(call);
      if (call.name === 'slow') await new Promise(() => undefined);
      return call.args;
    },
    timeoutMs: 6000,
  });
};
const broken = { ok: false, error: { kind: 'sandbox-violation', message: expect.stringContaining('broke the protocol') } };

describe.skipIf(process.platform === 'win32')('forged frames', () => {
  it.concurrent.each([
    'a length beyond any cap', 'an unknown kind', 'a host frame', 'half a call', 'a call that claims more bytes', 'a repeated call', 'a call out of order', 'a negative call',
    'a tool that was not offered', 'arguments that are no JSON', 'arguments in an unknown format', 'arguments nested for ever', 'a result nested for ever', 'a result without a format',
    'a result that is no JSON', 'a table with references to nowhere', 'a failure without a message', 'a failure that is null',
    'a large result that is no JSON', 'a large result that ends early', 'a large result of too many parts', 'a large table that leads nowhere', 'large arguments that are no JSON',
    'a call out of order behind large arguments', 'an unknown kind behind large arguments', 'console lines that lie', 'idle twice', 'idle while a call is open',
  ])('%s ends the run as a violation', async (trick) => {
    expect(await run(trick)).toMatchObject(broken);
  });

  it.each([
    ['a truncated frame', { ok: false, error: { kind: 'execution-failed' } }],
    ['a truncated header', { ok: false, error: { kind: 'execution-failed' } }],
    ['a failure of a kind of its own', { ok: false, error: { kind: 'execution-failed', message: 'me' } }],
    ['two results', { ok: true, output: 1 }],
    ['two large results', { ok: true, output: Array(60_001).fill(1) }],
    ['a result after exit', { ok: false, error: { kind: 'execution-failed', message: expect.stringContaining('exited before') } }],
    ['a result one byte at a time', { ok: true, output: 'slow' }],
    ['leaving at once', { ok: false, error: { kind: 'execution-failed', message: expect.stringContaining('exited before') } }],
    ['leaving with the memory code', { ok: false, error: { kind: 'execution-failed', message: expect.stringContaining('memory limit') } }],
    ['a signal', { ok: false, error: { kind: 'execution-failed' } }],
  ])('%s', async (trick, expected) => {
    expect(await run(trick)).toMatchObject(expected);
    expect(dispatched).toEqual([]);
  });

  it('calls after the result are not carried out', async () => {
    expect(await run('calls after the result')).toMatchObject({ ok: true, output: 1, toolCalls: 0 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(dispatched).toEqual([]);
  });

  it('a flood behind large arguments waits its turn', async () => {
    expect(await run('a flood behind large arguments')).toMatchObject({ ok: true, output: 1, toolCalls: 1 });
    expect(dispatched).toHaveLength(1);
  });

  it('a flood of calls stops at the budget', async () => {
    expect(await run('a flood of calls')).toMatchObject({ ok: false, error: { kind: 'execution-failed', message: expect.stringContaining('budget') }, toolCalls: 64 });
    expect(dispatched).toHaveLength(64);
  });

  it('silence meets the clock', async () => {
    const started = performance.now();
    const result = await runBridgedSource({ source: 'silence', allowedTools: [], dispatch: async () => 1, timeoutMs: 300 });
    expect(result).toMatchObject({ ok: false, error: { kind: 'timeout' } });
    expect(performance.now() - started).toBeLessThan(3000);
  });
});
