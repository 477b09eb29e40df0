import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ReadResultInput, type ReadResultToolOptions, createReadResultTool } from 'ferrule/built-in';
import type { ToolExecutionContext } from 'ferrule/core';
import { type ResultReadRange, countTokensHeuristic, createDefaultSpillWriter, createFileResultReader } from 'ferrule/result';
import { describe, expect, it } from 'vitest';
import { nativeRealm } from '../../js/binding.js';

const ctx = (runId?: string) => ({ runContext: { runId } }) as unknown as ToolExecutionContext;
const seen: [string, ResultReadRange | undefined][] = [];
const reader = {
  async read(uri: string, range?: ResultReadRange) {
    seen.push([uri, range]);
    return { content: 'x', bytes: 1, totalBytes: 1, eof: true, producerImperativeFlagged: true };
  },
};
const make = (options: Partial<ReadResultToolOptions> = {}) => createReadResultTool({ reader, ...options });
const count = (name: string): number => nativeRealm().counter(name);

describe('03 section 2: read_result', () => {
  it('describes itself', () => {
    const tool = make();
    // Made by `tool()` like the other built-in tools (01 section 3.2).
    expect(Object.isFrozen(tool)).toBe(true);
    expect(tool).toMatchObject({
      name: 'read_result',
      sideEffectClass: 'read-only',
      sandboxPolicy: 'none',
      sensitivity: 'internal',
      tags: ['built-in', 'result-handle'],
    });
    for (const word of ['handle', 'offset', 'length', 'startLine', 'endLine', 'maxBytes', '64 KiB', 'eof']) {
      expect(tool.description).toContain(word);
    }
  });

  it.each<[unknown, boolean]>([
    [{ handle: 'h' }, true],
    [{ handle: 'h', offset: 0, length: 1, startLine: 1, endLine: 1, maxBytes: 1_048_576 }, true],
    [{}, false],
    [{ handle: '' }, false],
    [{ handle: 'h'.repeat(2049) }, false],
    [{ handle: 'h', offset: -1 }, false],
    [{ handle: 'h', offset: 0.5 }, false],
    [{ handle: 'h', length: 0 }, false],
    [{ handle: 'h', startLine: 0 }, false],
    [{ handle: 'h', maxBytes: 1_048_577 }, false],
    [null, false],
    ['h', false],
  ])('validates %j', (input, ok) => {
    expect(make().inputSchema.safeParse(input).success).toBe(ok);
  });

  it('drops unknown keys, lists issues by path, and shows JSON Schema', () => {
    const { inputSchema, outputSchema } = make();
    expect(inputSchema.parse({ handle: 'h', extra: 1 })).toEqual({ handle: 'h' });
    const failed = inputSchema.safeParse({ handle: 1, offset: -1 });
    expect(!failed.success && failed.error.issues.map((issue) => issue.path)).toEqual([['handle'], ['offset']]);
    expect(() => inputSchema.parse({})).toThrow('handle');
    const json = (inputSchema as unknown as { toJSON(): { required: string[]; properties: object } }).toJSON();
    expect(json.required).toEqual(['handle']);
    expect(json.properties).toMatchObject({ handle: { type: 'string', minLength: 1, maxLength: 2048 } });
    // 01 section 8.5: what drops unknown keys does not close its schema, and whole numbers have no bound of their own.
    expect(json).not.toHaveProperty('additionalProperties');
    expect(json.properties).toMatchObject({ offset: expect.not.objectContaining({ maximum: expect.anything() }), maxBytes: { minimum: 1, maximum: 1_048_576 } });
    const page = { content: '', bytes: 0, totalBytes: 0, eof: true };
    expect(outputSchema?.safeParse({ ...page, producerSource: { kind: 'mcp', extra: 1 } }).success).toBe(true);
    expect(outputSchema?.safeParse({ ...page, producerSource: {} }).success).toBe(false);
    expect(outputSchema?.safeParse({ content: '' }).success).toBe(false);
  });

  it('passes only the defined parts of the range, and returns the page untouched', async () => {
    seen.length = 0;
    const before = count('tool.result.read.executed.total');
    const page = await make().execute({ handle: 'other:x', startLine: 2, offset: undefined } as never, ctx());
    await make({ defaultMaxBytes: 10 }).execute({ handle: 'other:x' }, ctx());
    await make().execute({ handle: 'other:x', maxBytes: 7, offset: 0 }, undefined as never);
    expect(seen).toEqual([
      ['other:x', { startLine: 2, maxBytes: 65_536 }],
      ['other:x', { maxBytes: 10 }],
      ['other:x', { offset: 0, maxBytes: 7 }],
    ]);
    expect(page).toHaveProperty('producerImperativeFlagged', true);
    expect(count('tool.result.read.executed.total')).toBe(before + 3);
  });

  it('refuses another run, unless allowed or unknown', async () => {
    const input: ReadResultInput = { handle: 'graphorin-spill:run-a/c1.txt' };
    const before = count('tool.result.read.cross-run-denied.total');
    await expect(make().execute(input, ctx('run-b'))).rejects.toThrow(/run-a.*cross-run reads are disabled/);
    expect(count('tool.result.read.cross-run-denied.total')).toBe(before + 1);
    for (const [tool, context] of [
      [make(), ctx('run-a')],
      [make(), ctx()],
      [make(), {}],
      [make({ allowCrossRun: true }), ctx('run-b')],
    ] as const) {
      await expect(tool.execute(input, context as ToolExecutionContext)).resolves.toMatchObject({ content: 'x' });
    }
    for (const handle of ['graphorin-spill:/c1', 'graphorin-spill:flat', 'mcp://a/b']) {
      await expect(make().execute({ handle }, ctx('run-b'))).resolves.toBeDefined();
    }
  });

  it('recognises its own run when the id was made safe, and nobody else may claim that name', async () => {
    const root = mkdtempSync(join(tmpdir(), 'ferrule-'));
    const spill = createDefaultSpillWriter({ root, startupSweepTtlMs: false });
    const written = await spill.write({ runId: 'team/run 1', toolCallId: 'c', extension: 'txt', body: 'b' });
    const segment = written.path.slice(root.length + 1).split('/')[0] as string;
    const tool = make({ reader: createFileResultReader({ artifactRoot: root }) });
    const input = { handle: `graphorin-spill:${segment}/c.txt` };
    await expect(tool.execute(input, ctx('team/run 1'))).resolves.toMatchObject({ content: 'b' });
    await expect(tool.execute(input, ctx(segment))).rejects.toThrow('cross-run');
  });

  it('its pages fit its own budget, default and largest, however JSON escapes them (BETTER)', async () => {
    const root = mkdtempSync(join(tmpdir(), 'ferrule-'));
    const spill = createDefaultSpillWriter({ root, startupSweepTtlMs: false });
    const body = '\u0001"\n'.repeat(600_000);
    await spill.write({ runId: 'r', toolCallId: 'c', extension: 'txt', body, producerTrustClass: 'mcp-derived' });
    const tool = make({ reader: createFileResultReader({ artifactRoot: root }) });
    for (const maxBytes of [undefined, 1_048_576]) {
      const page = await tool.execute(
        { handle: 'graphorin-spill:r/c.txt', ...(maxBytes === undefined ? {} : { maxBytes }) },
        ctx('r'),
      );
      expect(page).toMatchObject({ bytes: maxBytes ?? 65_536, totalBytes: 1_800_000, eof: false });
      expect(countTokensHeuristic.count(JSON.stringify(page))).toBeLessThanOrEqual(tool.maxResultTokens as number);
    }
  });
});
