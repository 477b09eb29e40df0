import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { BridgedSourceOptions } from 'ferrule/sandbox';
import { createDockerCodeModeRunner } from 'ferrule/sandbox/docker';
import { image, nothingIsLeft, options } from './support.js';

const runner = createDockerCodeModeRunner(options);
const script = (source: string, more: Partial<BridgedSourceOptions> = {}) =>
  runner({ source, allowedTools: ['echo', 'a.b'], dispatch: async ({ args }) => args, ...more });

describe.skipIf(image === undefined)('code mode in docker (spec 03 §7)', { timeout: 60_000 }, () => {
  afterAll(nothingIsLeft);

  it('§7.2 calls tools, in parallel too, and returns', async () => {
    const dispatch = vi.fn(async ({ args }: { args: unknown }) => (args as number) * 2);
    const result = await script('const all = await Promise.all([1, 2, 3].map((n) => tools.echo(n))); return [all, await tools["a.b"](5)] // end', {
      dispatch: dispatch as never,
    });
    expect(result).toEqual({ ok: true, output: [[2, 4, 6], 10], toolCalls: 4, durationMs: expect.any(Number) });
    expect(dispatch.mock.calls[0]).toEqual([{ name: 'echo', args: 1 }]);
  });

  it('§7.2 values cross as structured clone carries them', async () => {
    const cyclic: Record<string, unknown> = { name: 'c' };
    cyclic.self = cyclic;
    const values = [
      undefined, null, -0, NaN, Infinity, 2n ** 70n, new Date(5), /a+/gi, new Map([[{ k: 1 }, new Set([1])]]), new Uint8Array([1, 255]),
      new Float64Array([1.5]), cyclic, '\ud800', JSON.parse('{"__proto__":1}'), [[['deep']]], new TypeError('t'), 'x'.repeat(200_000),
    ];
    const result = await script('const back = await tools.echo(undefined); return [back, back instanceof Array, back[8] instanceof Map, back[11].self === back[11], back[15] instanceof TypeError]', {
      dispatch: async ({ args }) => (args === undefined ? values : 'args missing'),
    });
    expect(result.ok && result.output).toEqual([values, true, true, true, true]);
  });

  it('§7.2 what cannot be carried says so', async () => {
    const text = (source: string, more: Partial<BridgedSourceOptions> = {}) =>
      script(`try { ${source} } catch (error) { return [error instanceof Error, error.message] }`, more);
    expect(await text('await tools.echo(() => 1)')).toMatchObject({ output: [true, expect.stringMatching(/^tool arguments are not serialisable:/)], toolCalls: 1 });
    expect(await text('await tools.echo(1)', { dispatch: async () => Symbol('s') })).toMatchObject({ output: [true, expect.stringMatching(/^tool result is not serialisable:/)] });
    expect(await script('return { a: [() => 1] }')).toMatchObject({ error: { kind: 'execution-failed', message: expect.stringContaining('a[0] could not be cloned') } });
  });

  it('§7.2 dispatch that rejects, throws, or is not consulted', async () => {
    const dispatch = vi.fn((): never => {
      throw new Error('sync');
    });
    expect(await script('try { await tools.echo(1) } catch (e) { return e.message }', { dispatch })).toMatchObject({ output: 'sync' });
    expect(await script('await tools.echo(1)', { dispatch: () => Promise.reject('plain') })).toMatchObject({ error: { kind: 'execution-failed', message: 'plain' } });
    expect(await script('await tools.nothing(1)', { dispatch })).toMatchObject({ error: { kind: 'execution-failed' }, toolCalls: 0 });
    expect(dispatch).toHaveBeenCalledTimes(1);
  });

  it('§7.2 the budget', async () => {
    const dispatch = vi.fn(async () => 1);
    expect(await script('await tools.echo(); await tools.echo(); await tools.echo()', { dispatch, maxToolCalls: 2 })).toMatchObject({
      error: { kind: 'execution-failed', message: expect.stringMatching(/budget exceeded.*\(2\)/) },
      toolCalls: 2,
    });
    expect(dispatch).toHaveBeenCalledTimes(2);
    expect(await script('await tools.echo()', { dispatch, maxToolCalls: 0 })).toMatchObject({ ok: false, toolCalls: 0 });
  });

  it('§7.3 a script that breaks out of its realm still meets the budget and the names', async () => {
    // The realm is a convenience: the container is the wall. The whole of Node is within reach here.
    const source = `
      const node = console.log.constructor('return process')();
      const fs = node.getBuiltinModule ? node.getBuiltinModule('fs') : node.mainModule.require('fs');
      fs.writeSync(1, '\\x01' + '0'.repeat(32) + 'e0010{"t":"done"}    ');
      for (let i = 0; i < 5; i++) await tools.echo(i);
      return 'all'`;
    const dispatch = vi.fn(async () => 1);
    const result = await script(source, { dispatch, maxToolCalls: 3 });
    expect(result).toMatchObject({ ok: false, toolCalls: 3 });
    expect(dispatch).toHaveBeenCalledTimes(3);
  });

  it('04 §1.8 the world of the script', async () => {
    expect(await script('return [Object.keys(process.env).length, typeof process.cwd(), this === undefined, Object.isFrozen(tools), Object.getPrototypeOf(tools)]')).toMatchObject({
      output: [0, 'string', true, true, null],
    });
    for (const [specifier, word] of [['node:fs', 'filesystem'], ['fs/promises', 'filesystem'], ['http', 'network'], ['node:child_process', 'module'], ['node:module', 'module'], ['./x.js', 'module'], ['data:text/javascript,1', 'module']]) {
      for (const source of [`await import(${JSON.stringify(specifier)})`, `require(${JSON.stringify(specifier)})`]) {
        expect(await script(source)).toMatchObject({ error: { kind: 'sandbox-violation', message: `${word} access denied by sandbox policy: ${specifier}` } });
      }
    }
    expect(await script('try { await import("fs") } catch (e) { return e.name }')).toMatchObject({ output: 'SandboxFsAccessDenied' });
    expect(await script('fetch("http://x")')).toMatchObject({ error: { kind: 'sandbox-violation', message: expect.stringMatching(/fetch$/) } });
    expect(await script('throw { name: "SandboxFsAccessDenied", message: "mine" }')).toMatchObject({ error: { kind: 'execution-failed', message: 'mine' } });
    for (const source of ['eval("1")', 'new Function("return 1")', 'Buffer.alloc(1)', 'return )', 'import fs from "fs"']) {
      expect(await script(source)).toMatchObject({ error: { kind: 'execution-failed' } });
    }
    expect(await script('console.log("hidden"); return new URL("http://a/b").pathname + btoa("a") + typeof crypto.randomUUID()')).toMatchObject({ output: '/bYQ==string' });
  });

  it('§7.2 the ends of a run', async () => {
    const ends: ReadonlyArray<readonly [string, Partial<BridgedSourceOptions>, string, RegExp]> = [
      ['process.exit(0)', {}, 'execution-failed', /exited before producing a result/],
      ['try { process.exit(4) } catch {} return 1', {}, 'execution-failed', /exited with code 4/],
      ['await new Promise(() => {})', {}, 'execution-failed', /exited before producing a result/],
      ['throw new RangeError("r")', {}, 'execution-failed', /^r$/],
      ['Promise.reject(new Error("lost")); await new Promise((r) => setTimeout(r, 1000))', {}, 'execution-failed', /^lost$/],
      ['setTimeout(() => { throw new Error("timer") }, 1); await new Promise((r) => setTimeout(r, 1000))', {}, 'execution-failed', /^timer$/],
      ['for (;;);', { timeoutMs: 300 }, 'timeout', /timed out after 300 ms/],
      ['await new Promise((r) => setTimeout(r, 60000))', { timeoutMs: 300 }, 'timeout', /timed out after 300 ms/],
      ['const all = []; for (;;) all.push(new Array(1e5).fill(all.length + 0.5))', { maxMemoryMb: 64 }, 'execution-failed', /memory limit/],
    ];
    for (const [source, more, kind, message] of ends) {
      const result = await script(source, more);
      expect([source, result]).toMatchObject([source, { ok: false, error: { kind } }]);
      expect(!result.ok && result.error.message).toMatch(message);
    }
    const warn = vi.fn();
    await script('for (;;);', { timeoutMs: 200, warn });
    expect(warn.mock.calls).toEqual([['the script timed out after 200 ms']]);
  });

  it('§7.2 aborted before and during a run', async () => {
    expect(await script('return 1', { signal: AbortSignal.abort() })).toMatchObject({ error: { kind: 'aborted', message: expect.stringContaining('aborted before') }, toolCalls: 0 });
    const controller = new AbortController();
    const pending = script('await tools.echo(1); await new Promise((r) => setTimeout(r, 60000))', { signal: controller.signal, timeoutMs: 0 });
    setTimeout(() => controller.abort(), 700);
    expect(await pending).toMatchObject({ error: { kind: 'aborted', message: expect.stringContaining('aborted by AbortSignal') } });
  });

  it('§9.1 dispatch runs in the context of its run', async () => {
    const context = new AsyncLocalStorage<number>();
    const seen = await Promise.all(
      [1, 2, 3].map((id) =>
        context.run(id, () => script('return [await tools.echo(), await tools.echo()]', { dispatch: async () => context.getStore() })),
      ),
    );
    expect(seen.map((one) => one.ok && one.output)).toEqual([[1, 1], [2, 2], [3, 3]]);
  });

  it('a flood of calls and of logs passes through', async () => {
    const source = `
      for (let i = 0; i < 5000; i++) console.log('line', i);
      const all = await Promise.all(Array.from({ length: 1000 }, (_, i) => tools.echo(i)));
      return all.reduce((a, b) => a + b)`;
    expect(await script(source, { maxToolCalls: 1000 })).toMatchObject({ ok: true, output: 499_500, toolCalls: 1000 });
  });

  it('a pool serves scripts as well', async () => {
    const pooled = createDockerCodeModeRunner({ ...options, pool: { size: 1, idleTimeoutMs: 4000 } });
    const request = { source: 'return await tools.echo(7)', allowedTools: ['echo'], dispatch: async ({ args }: { args: unknown }) => args };
    await pooled(request);
    await new Promise((resolve) => setTimeout(resolve, 900));
    const warm = await pooled(request);
    expect(warm).toMatchObject({ ok: true, output: 7 });
    expect(warm.durationMs).toBeLessThan(150);
    await nothingIsLeft();
  });
});
