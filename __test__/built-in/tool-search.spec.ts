import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { getCounterForTesting, resetCountersForTesting } from 'ferrule/audit';
import { createToolSearchTool, type ToolSearchToolOptions } from 'ferrule/built-in';
import type { ToolExecutionContext } from 'ferrule/core';
import { createToolRegistry, type ToolRegistry } from 'ferrule/registry';
import { projectSchemaToJsonSchema } from 'ferrule/schema';
import { make } from '../registry/support.js';

const noContext = undefined as unknown as ToolExecutionContext;
beforeEach(() => resetCountersForTesting());

function catalogue(count = 20): ToolRegistry {
  const registry = createToolRegistry();
  for (let at = 0; at < count; at++) {
    registry.register(
      make(`weather_${at}`, {
        description: 'Looks up the weather.',
        defer_loading: true,
        inputSchema: z.object({ city: z.string() }),
        outputSchema: z.object({ celsius: z.number() }),
      }),
    );
  }
  return registry;
}
const run = async (query: string, k: number | undefined, opts: Partial<ToolSearchToolOptions> = {}) =>
  (await createToolSearchTool({ registry: catalogue(), ...opts }).execute(
    k === undefined ? { query } : { query, k },
    noContext,
  )) as { matches: { name: string; inputSchema: object; source: string }[] };

describe('tool_search (spec 01 section 7)', () => {
  it('is a frozen read-only tool', () => {
    const tool = createToolSearchTool({ registry: createToolRegistry() });
    expect(Object.isFrozen(tool)).toBe(true);
    expect(tool).toMatchObject({
      name: 'tool_search',
      sideEffectClass: 'read-only',
      sandboxPolicy: 'none',
      sensitivity: 'public',
      tags: ['built-in', 'tool-discovery'],
    });
    expect('defer_loading' in tool || 'examples' in tool).toBe(false);
  });

  it('tells the model when a match can be called', () => {
    const registry = createToolRegistry();
    const step = createToolSearchTool({ registry }).description;
    const runs = createToolSearchTool({ registry, availability: 'next-run' }).description;
    for (const text of [step, runs]) {
      expect(text).toContain('deferred-tool catalogue');
      expect(text).toContain('`k`');
      expect(text).toMatch(/before you call a tool you do not know/i);
    }
    expect(step).toContain('NEXT step');
    expect(step).not.toContain('NEXT run');
    expect(runs).toContain('NEXT run');
    expect(runs).toContain('frozen');
  });

  it('has the specified schemas', () => {
    const tool = createToolSearchTool({ registry: createToolRegistry() });
    expect(projectSchemaToJsonSchema(tool.inputSchema)).toEqual({
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, maxLength: 1024 },
        k: { type: 'integer', exclusiveMinimum: 0, maximum: 15 },
      },
      required: ['query'],
    });
    expect(projectSchemaToJsonSchema(tool.outputSchema)).toEqual({
      type: 'object',
      properties: {
        matches: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              name: { type: 'string' },
              description: { type: 'string' },
              inputSchema: { type: 'object', additionalProperties: {} },
              score: { type: 'number' },
              source: { type: 'string', enum: ['semantic', 'bm25', 'regex-name'] },
            },
            required: ['name', 'description', 'inputSchema', 'score', 'source'],
          },
        },
      },
      required: ['matches'],
    });
  });

  it.each([
    [{ query: 'x' }, true],
    [{ query: 'x', k: 15 }, true],
    [{ query: 'x', k: undefined }, true],
    [{ query: '' }, false],
    [{ query: 'x'.repeat(1025) }, false],
    [{ query: 'x', k: 0 }, false],
    [{ query: 'x', k: 16 }, false],
    [{ query: 'x', k: 1.5 }, false],
    [{}, false],
  ])('input %o: %s', (input, accepted) => {
    const { inputSchema } = createToolSearchTool({ registry: createToolRegistry(), maxK: 50 });
    expect(inputSchema.safeParse(input).success).toBe(accepted);
  });

  it.each([
    [undefined, {}, 5],
    [3, {}, 3],
    [20, {}, 15],
    [undefined, { defaultK: 18 }, 15],
    [undefined, { defaultK: 18, maxK: 18 }, 18],
    [9, { maxK: 2 }, 2],
  ])('k = %s with %o finds %i', async (k, opts, count) => {
    expect((await run('weather', k, opts)).matches).toHaveLength(count);
  });

  it('finds by description, with real JSON Schema and without validator internals', async () => {
    const { matches } = await run('look up weather', 1);
    expect(matches).toEqual([
      {
        name: 'weather_0',
        description: 'Looks up the weather.',
        inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        outputSchema: { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] },
        score: 1,
        source: 'bm25',
      },
    ]);
    expect(JSON.stringify(matches)).not.toMatch(/_zod|_def|typeName/);
    const { outputSchema } = createToolSearchTool({ registry: createToolRegistry() });
    expect(outputSchema?.safeParse({ matches }).success).toBe(true);
  });

  it('excludes after the limit, and hands out a new array', async () => {
    const seen: string[] = [];
    const { matches } = await run('weather', 3, {
      excludeTool: (name) => {
        seen.push(name);
        return name === 'weather_1';
      },
    });
    expect(matches.map(({ name }) => name)).toEqual(['weather_0', 'weather_2']);
    expect(seen).toEqual(['weather_0', 'weather_1', 'weather_2']);
    expect(Object.isFrozen(matches)).toBe(false);
  });

  it('counts searches that came back, also empty ones', async () => {
    const counted = (): number => getCounterForTesting('tool.retrieval.search.executed.total');
    expect((await run('zzz', undefined)).matches).toEqual([]);
    expect(counted()).toBe(1);
    const registry = { searchDeferred: async () => Promise.reject(new Error('down')) } as unknown as ToolRegistry;
    await expect(createToolSearchTool({ registry }).execute({ query: 'x' }, noContext)).rejects.toThrow('down');
    expect(counted()).toBe(1);
  });
});

describe('the schemas of the built-in tools', () => {
  afterEach(() => {
    vi.doUnmock('zod');
    vi.resetModules();
  });

  it('1: need no schema library, so that the tools work beside any of them', async () => {
    vi.resetModules();
    vi.doMock('zod', () => {
      throw new Error('zod was loaded');
    });
    const builtIn = await import('ferrule/built-in');
    const codeMode = await import('ferrule/code-mode');
    const projection = codeMode.projectToolApi([]);
    const tools = [
      builtIn.createToolSearchTool({ registry: createToolRegistry() }),
      builtIn.createReadResultTool({ reader: { read: async () => Promise.reject(new Error('nothing there')) } }),
      codeMode.createCodeSearchTool({ projection }),
      codeMode.createCodeExecuteTool({ projection, allowedTools: [], executeTool: async () => undefined }),
    ];
    for (const tool of tools) {
      expect(projectSchemaToJsonSchema(tool.inputSchema)).toMatchObject({ type: 'object', required: [expect.any(String)] });
      expect(tool.inputSchema.safeParse({}).success).toBe(false);
      expect(() => tool.inputSchema.parse(null)).toThrow('expected an object');
    }
  });

  const match = { name: 'a', description: 'b', inputSchema: {}, score: 1, source: 'bm25' };
  it.each([
    [{ matches: [] }, undefined],
    [{ matches: [match, { ...match, outputSchema: {} }] }, undefined],
    [{ matches: match }, 'matches: expected an array'],
    [{ matches: [match, 'x'] }, 'matches: item 1: expected an object'],
    [{ matches: [{ ...match, score: '1' }] }, 'matches: item 0.score: expected a number'],
    [{ matches: [{ ...match, inputSchema: [] }] }, 'matches: item 0.inputSchema: expected an object'],
    [{ matches: [{ ...match, source: 'luck' }] }, 'matches: item 0.source: expected one of semantic, bm25, regex-name'],
  ])('output %j: %s', (output, fault) => {
    const { outputSchema } = createToolSearchTool({ registry: createToolRegistry() });
    const result = outputSchema!.safeParse(output);
    expect(result.success ? undefined : result.error.message).toBe(fault);
  });

  it('options of null are options not given', async () => {
    const registry = { searchDeferred: async (_query: string, k: number) => [{ ...match, name: `k=${k}` }] };
    const none = { defaultK: null, maxK: null, availability: null, excludeTool: null };
    const tool = createToolSearchTool({ registry, ...none } as never);
    expect(tool.description).toContain('NEXT step');
    expect(await tool.execute({ query: 'q' }, {} as never)).toMatchObject({ matches: [{ name: 'k=5' }] });
  });
});
