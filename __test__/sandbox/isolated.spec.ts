// What the isolated tier is served with (spec 04 section 1.8).
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runBridgedSource } from 'ferrule/sandbox';
import { runIsolatedSource } from '../../js/sandbox/bridged/index.js';
import { sandboxBinaryProblem } from '../../js/sandbox/bridged/process.js';

const run = (source: string, options: { timeoutMs?: number; maxMemoryMb?: number; signal?: AbortSignal } = {}) => runIsolatedSource({ source, inputJson: '{"n":20}', ...options });

describe('runIsolatedSource', () => {
  it.each([
    ['JSON.parse(__GRAPHORIN_INPUT__).n + 1', 21],
    ['typeof __GRAPHORIN_INPUT__', 'string'],
    ['return JSON.parse(__GRAPHORIN_INPUT__).n + 2', 22],
    ['const { n } = JSON.parse(__GRAPHORIN_INPUT__); n * 2', 40],
    ['(async () => { await null; return { a: 1 } })()', { a: 1 }],
    ['await Promise.resolve(5); return 6', 6],
    ['typeof tools', 'undefined'],
  ])('%j gives %j', async (source, output) => {
    expect(await run(source)).toEqual({ ok: true, output });
  });

  it('faults have the kinds of the tier', async () => {
    expect(await run('while (true) {}', { timeoutMs: 100 })).toMatchObject({ error: { kind: 'timeout', message: expect.stringContaining('timed out') } });
    expect(await run('let s = "x"; for (;;) s += s', { maxMemoryMb: 16 })).toMatchObject({ error: { kind: 'memory-exceeded', message: expect.stringContaining('memory') } });
    expect(await run('throw new Error("q")')).toMatchObject({ error: { kind: 'execution-failed', message: expect.stringContaining('q') } });
    expect(await run('1', { signal: AbortSignal.abort() })).toMatchObject({ error: { kind: 'aborted' } });
  });
});

describe('the binary (spec 04 section 1.8)', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it('is there', () => expect(sandboxBinaryProblem()).toBeUndefined());

  it('a missing one is named, and a run resolves with it', async () => {
    vi.stubEnv('FERRULE_SANDBOX', '/nowhere/ferrule-sandbox');
    vi.stubEnv('FERRULE_SANDBOX_MODE', 'spawn');
    expect(sandboxBinaryProblem()).toContain('/nowhere/ferrule-sandbox');
    const result = await runBridgedSource({ source: 'return 1', allowedTools: [], dispatch: async () => 1 });
    expect(result).toMatchObject({ ok: false, error: { kind: 'execution-failed' } });
  });

  it('works when it is started per script, as on other platforms', async () => {
    vi.stubEnv('FERRULE_SANDBOX_MODE', 'spawn');
    const call = (source: string, options = {}) => runBridgedSource({ source, allowedTools: ['echo'], dispatch: async ({ args }) => args, ...options });
    expect(await call('return [await tools.echo({ a: 1 }), await tools.echo(2)]')).toMatchObject({ ok: true, output: [{ a: 1 }, 2], toolCalls: 2 });
    expect(await call('while (true) {}', { timeoutMs: 100 })).toMatchObject({ error: { kind: 'timeout' } });
    expect(await call('let s = "x"; for (;;) s += s', { maxMemoryMb: 16 })).toMatchObject({ error: { message: expect.stringContaining('memory limit') } });
    expect(await call('process.exit(3)')).toMatchObject({ error: { message: expect.stringContaining('exited with code 3') } });
    expect(await call('while (true) {}', { maxCpuMs: 30 })).toMatchObject({ error: { message: expect.stringContaining('CPU time') } });
  });
});
