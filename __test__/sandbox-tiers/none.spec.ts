import { describe, expect, it, vi } from 'vitest';
import { createNoneSandbox, type NoneSandboxHandler } from 'ferrule/sandbox';

const code = { kind: 'handler', module: 'sum', export: 'execute' } as const;
const holding = (handler: NoneSandboxHandler<never, unknown> | undefined) =>
  createNoneSandbox({ resolveHandler: () => handler });

describe('spec 04 §1.3 none', () => {
  it('calls the handler once with the input itself and the signal', async () => {
    const handler = vi.fn((input: unknown) => input);
    const input = { a: 1 };
    const { signal } = new AbortController();
    const result = await holding(handler as never).run(code, { input, signal });
    expect(result).toEqual({ ok: true, output: input, durationMs: expect.any(Number) });
    expect(result.ok && result.output).toBe(input);
    expect(handler.mock.calls).toEqual([[input, signal]]);
  });

  for (const other of [{ kind: 'source', source: '1' } as const, { kind: 'file', path: '/x' } as const]) {
    it(`refuses ${other.kind}`, async () => {
      const result = await holding(() => 1).run(other, { input: null });
      expect(result).toMatchObject({ ok: false, error: { kind: 'sandbox-violation' } });
    });
  }

  it('names a missing handler, before it looks at the signal', async () => {
    const result = await holding(undefined).run(code, { input: null, signal: AbortSignal.abort() });
    expect(result).toMatchObject({ ok: false, error: { kind: 'sandbox-violation' } });
    expect(!result.ok && result.error.message).toMatch(/no registered handler.*sum#execute/);
  });

  it('does not call the handler once aborted', async () => {
    const handler = vi.fn();
    const result = await holding(handler).run(code, { input: null, signal: AbortSignal.abort() });
    expect(result).toMatchObject({ ok: false, error: { kind: 'aborted' } });
    expect(handler).not.toHaveBeenCalled();
  });

  it('keeps what was thrown as the cause', async () => {
    const thrown = new Error('boom');
    const result = await holding(() => Promise.reject(thrown)).run(code, { input: null });
    expect(result).toMatchObject({ ok: false, error: { kind: 'execution-failed', message: 'boom' } });
    expect(!result.ok && result.error.cause).toBe(thrown);
    const plain = await holding(() => {
      throw 'text';
    }).run(code, { input: null });
    expect(plain).toMatchObject({ error: { message: 'text', cause: 'text' } });
  });

  it('reports aborted for an AbortError and for any throw after an abort', async () => {
    const named = Object.assign(new Error('stop'), { name: 'AbortError' });
    expect(await holding(() => Promise.reject(named)).run(code, { input: null })).toMatchObject({ error: { kind: 'aborted' } });
    const controller = new AbortController();
    const result = await holding(() => {
      controller.abort();
      throw new Error('other');
    }).run(code, { input: null, signal: controller.signal });
    expect(result).toMatchObject({ error: { kind: 'aborted', message: 'other' } });
  });
});
