import { createCodeExecuteTool, createCodeSearchTool, projectToolApi } from 'ferrule/code-mode';
import { getCounterForTesting, resetCountersForTesting } from 'ferrule/audit';
import type { ToolExecutionContext } from 'ferrule/core';
import { withToolSecretsContext, getActiveToolSecretsContext } from 'ferrule/secrets';
import { beforeEach, describe, expect, it, vi } from 'vitest';

const projection = projectToolApi([
  { name: 'find', description: 'Find things', inputSchema: { type: 'string' } },
  { name: 'list', description: 'List things' },
]);
const ctx = { signal: new AbortController().signal } as ToolExecutionContext;

beforeEach(() => resetCountersForTesting());

describe('6.3 code_search', () => {
  it('declares itself', () => {
    const tool = createCodeSearchTool({ projection });
    expect(tool).toMatchObject({
      name: 'code_search',
      sideEffectClass: 'read-only',
      sandboxPolicy: 'none',
      sensitivity: 'internal',
      tags: ['built-in', 'code-mode'],
    });
    for (const [input, ok] of [
      [{ query: 'a' }, true],
      [{ query: 'a', limit: 25 }, true],
      [{ query: '' }, false],
      [{ query: 'x'.repeat(513) }, false],
      [{ query: 'a', limit: 0 }, false],
      [{ query: 'a', limit: 26 }, false],
      [{ query: 'a', limit: 1.5 }, false],
    ] as const) {
      expect(tool.inputSchema.safeParse(input).success, JSON.stringify(input)).toBe(ok);
    }
    expect(tool.outputSchema?.safeParse('x').success).toBe(true);
  });

  it('answers with eager hits only when nothing else matches', async () => {
    const tool = createCodeSearchTool({ projection });
    expect(await tool.execute({ query: 'FIND' }, ctx)).toBe(projection.signatureFor('find'));
    expect(getCounterForTesting('tool.code_mode.search.executed.total')).toBe(1);
  });

  it('projects deferred hits after the eager ones and names gated tools last', async () => {
    const searchDeferred = vi.fn(async () => [
      { name: 'find.more', description: 'Find more', inputSchema: { type: 'object', properties: { q: { type: 'string' } } } },
    ]);
    const tool = createCodeSearchTool({ projection, searchDeferred, approvalGatedTools: ['findAndDelete', 'wipe'] });
    const answer = (await tool.execute({ query: 'find', limit: 5 }, ctx)) as string;
    expect(searchDeferred.mock.calls).toEqual([['find', 5]]);
    const [eager, deferred, gated] = answer.split('\n\n');
    expect(eager).toBe(projection.signatureFor('find'));
    expect(deferred).toContain('tools["find.more"] = (input: { "q"?: string })');
    expect(gated).toMatch(/^findAndDelete - .*requires approval.*directly/);
    expect(answer).not.toContain('wipe');
  });

  it('limits: the default, the most', async () => {
    const search = vi.fn(() => 'x');
    const spied = { ...projection, search };
    await createCodeSearchTool({ projection: spied }).execute({ query: 'q' }, ctx);
    await createCodeSearchTool({ projection: spied, defaultK: 3 }).execute({ query: 'q' }, ctx);
    await createCodeSearchTool({ projection: spied, maxK: 4 }).execute({ query: 'q', limit: 20 }, ctx);
    await createCodeSearchTool({ projection: spied }).execute({ query: 'q', limit: 99 }, ctx);
    expect(search.mock.calls).toEqual([['q', 8], ['q', 3], ['q', 4], ['q', 25]]);
  });

  it('gives the catalogue when nothing matches', async () => {
    const answer = (await createCodeSearchTool({ projection }).execute({ query: 'zzz' }, ctx)) as string;
    expect(answer.startsWith('No tool matches "zzz"')).toBe(true);
    expect(answer.endsWith(`\n${projection.catalogue}`)).toBe(true);
  });
});

describe('6.4 code_execute', () => {
  const make = (run: unknown, extra: object = {}) =>
    createCodeExecuteTool({ projection, allowedTools: ['find'], executeTool: async () => 1, run: run as never, ...extra });

  it('declares itself', () => {
    const tool = make(undefined);
    expect(tool).toMatchObject({
      name: 'code_execute',
      sideEffectClass: 'side-effecting',
      sandboxPolicy: 'none',
      sensitivity: 'internal',
      truncationStrategy: 'spill-to-file',
      tags: ['built-in', 'code-mode'],
    });
    expect(tool.inputSchema.safeParse({ source: '' }).success).toBe(false);
    expect(tool.inputSchema.safeParse({ source: 'x'.repeat(100_001) }).success).toBe(false);
    expect(tool.inputSchema.safeParse({ source: 'x'.repeat(100_000) }).success).toBe(true);
  });

  it('describes the contract, the catalogue and what is gated', () => {
    const plain = make(undefined).description;
    for (const part of ['await tools.NAME(args)', 'tools["NAME"](args)', 'return', 'process.env', projection.catalogue]) {
      expect(plain).toContain(part);
    }
    expect(plain).not.toContain('NOT callable');
    const gated = make(undefined, { approvalGatedTools: ['wipe'] }).description;
    const at = gated.indexOf('\nNOT callable from code_execute');
    expect(at).toBeGreaterThan(0);
    expect(gated.slice(at)).toContain('requires approval');
    expect(gated.slice(at)).toContain('\n  wipe');
    expect(gated).not.toContain('tools.wipe(');
  });

  it('hands the runner exactly what is set', async () => {
    const run = vi.fn(async (_options: Record<string, unknown>) => ({ ok: true, output: 'x', toolCalls: 0, durationMs: 1 }));
    await make(run).execute({ source: 's' }, ctx);
    await make(run, { limits: { timeoutMs: 5, maxToolCalls: 2 } }).execute({ source: 's' }, ctx);
    expect(Object.keys(run.mock.calls[0]![0])).toEqual(['source', 'allowedTools', 'dispatch', 'signal']);
    expect(run.mock.calls[0]![0]).toMatchObject({ source: 's', allowedTools: ['find'], signal: ctx.signal });
    expect(run.mock.calls[1]![0]).toMatchObject({ timeoutMs: 5, maxToolCalls: 2 });
    expect('maxMemoryMb' in run.mock.calls[1]![0]).toBe(false);
  });

  it('bridges calls with the context of its own call', async () => {
    const executeTool = vi.fn(async ({ args }: { args: unknown }) => args);
    const run = async ({ dispatch }: { dispatch(call: unknown): Promise<unknown> }) => ({
      ok: true,
      output: await Promise.all([dispatch({ name: 'find', args: 1 }), dispatch({ name: 'find', args: 2 })]),
      toolCalls: 2,
      durationMs: 1,
    });
    expect(await make(run, { executeTool }).execute({ source: 's' }, ctx)).toBe('[\n  1,\n  2\n]');
    expect(executeTool.mock.calls).toEqual([
      [{ name: 'find', args: 1 }, ctx],
      [{ name: 'find', args: 2 }, ctx],
    ]);
    expect(getCounterForTesting('tool.code_mode.execute.executed.total')).toBe(1);
    expect(getCounterForTesting('tool.code_mode.tool_calls.total')).toBe(2);
  });

  it('[BETTER] a bridged call runs in the secrets scope around code_execute, not in its own', async () => {
    const scopes: unknown[] = [];
    const executeTool = async (): Promise<void> => {
      scopes.push(getActiveToolSecretsContext()?.toolName);
    };
    const run = async ({ dispatch }: { dispatch(call: unknown): Promise<unknown> }) => {
      scopes.push(getActiveToolSecretsContext()?.toolName);
      await dispatch({ name: 'find', args: 1 });
      return { ok: true, output: 1, toolCalls: 1, durationMs: 1 };
    };
    const tool = make(run, { executeTool });
    const inOwnScope = (): Promise<unknown> =>
      withToolSecretsContext({ toolName: 'code_execute', secretsAllowed: [] }, () => tool.execute({ source: 's' }, ctx));
    await inOwnScope();
    await withToolSecretsContext({ toolName: 'agent', secretsAllowed: ['K'] }, inOwnScope);
    expect(scopes).toEqual(['code_execute', undefined, 'code_execute', 'agent']);
  });

  it.each<[unknown, unknown]>([
    ['text', 'text'],
    [null, 'null'],
    [5, '5'],
    [{ b: 1, a: [] }, '{\n  "b": 1,\n  "a": []\n}'],
    [undefined, undefined],
    [new Map([[1, 2]]), '{}'],
  ])('output %j', async (output, expected) => {
    expect(await make(async () => ({ ok: true, output, toolCalls: 0, durationMs: 1 })).execute({ source: 's' }, ctx)).toBe(expected);
  });

  it('[BETTER] a value JSON cannot write is a clear execution error', async () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    for (const output of [10n, cycle]) {
      const pending = make(async () => ({ ok: true, output, toolCalls: 0, durationMs: 1 })).execute({ source: 's' }, ctx);
      await expect(pending).rejects.toThrow(/^code_execute failed \(execution-failed\): .*JSON/);
    }
  });

  it('a failed script rejects with its kind and message, and is counted', async () => {
    const run = async () => ({ ok: false, error: { kind: 'timeout', message: 'too slow' }, toolCalls: 3, durationMs: 1 });
    await expect(make(run).execute({ source: 's' }, ctx)).rejects.toThrow('code_execute failed (timeout): too slow');
    expect(getCounterForTesting('tool.code_mode.execute.executed.total')).toBe(1);
    expect(getCounterForTesting('tool.code_mode.tool_calls.total')).toBe(3);
  });

  it('never throws instead of rejecting', async () => {
    const run = (): never => {
      throw new Error('sync');
    };
    const pending = make(run).execute({ source: 's' }, ctx);
    expect(pending).toBeInstanceOf(Promise);
    await expect(pending).rejects.toThrow('sync');
  });
});
