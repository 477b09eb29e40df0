import { createCodeExecuteTool, projectToolApi } from 'ferrule/code-mode';
import type { ToolExecutionContext } from 'ferrule/core';
import { describe, expect, it } from 'vitest';

const ctx = { signal: new AbortController().signal } as ToolExecutionContext;

describe('6.4 code_execute in the real sandbox', () => {
  const make = (executeTool: (call: { name: string; args: unknown }) => Promise<unknown>) =>
    createCodeExecuteTool({ projection: projectToolApi([{ name: 'fetch.page' }]), allowedTools: ['fetch.page'], executeTool });

  it('several bridged calls, a large intermediate kept inside', async () => {
    const tool = make(async ({ args }) => ({ items: Array.from({ length: 3_000 }, (_, i) => `item ${i}`), page: args }));
    const source = `
      let total = 0;
      for (const page of [1, 2, 3]) total += (await tools["fetch.page"]({ page })).items.length;
      return { total };`;
    expect(await tool.execute({ source }, ctx)).toBe('{\n  "total": 9000\n}');
  });

  it('a string is returned verbatim, a script error names itself', async () => {
    const tool = make(async () => null);
    expect(await tool.execute({ source: 'return "a\\n\\"b\\"";' }, ctx)).toBe('a\n"b"');
    expect(await tool.execute({ source: 'return;' }, ctx)).toBeUndefined();
    await expect(tool.execute({ source: 'throw new Error("my fault");' }, ctx)).rejects.toThrow(/^code_execute failed \(execution-failed\): .*my fault/s);
  });

  it('a failing tool can be caught by the script', async () => {
    const tool = make(async () => {
      throw new Error('fetch.page: not today');
    });
    const source = 'try { await tools["fetch.page"]({}) } catch (e) { return e.message }';
    expect(await tool.execute({ source }, ctx)).toBe('fetch.page: not today');
  });

  it('a value JSON cannot write is an execution error', async () => {
    await expect(make(async () => 1).execute({ source: 'return 10n;' }, ctx)).rejects.toThrow(/execution-failed.*JSON/s);
  });
});
