/** P21: tools named like members of Object.prototype are ordinary tools, and unknown names stay unknown. */
import { describe, expect, it } from 'vitest';
import { tool } from 'ferrule/builder';
import { createToolRegistry } from 'ferrule/registry';
import { bench, counters, entry, failure, success } from '../executor/kit.js';

const NAMES = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'then', 'valueOf'];

describe('P21 tool named like a prototype member', () => {
  it.each(NAMES)('%s runs, is counted and audited under its name', async (name) => {
    const b = bench([entry(name, { execute: async () => name })]);
    expect(success(await b.one(name)).output).toBe(name);
    expect(counters()[`tool.executor.invocations.total{toolName=${name}}`]).toBe(1);
    expect(b.rows.every((row) => row.target === name)).toBe(true);
    expect(({} as Record<string, unknown>)['toolName']).toBeUndefined();
  });

  it.each(NAMES)('a call to %s when there is no such tool is unknown_tool, also over the real registry', async (name) => {
    expect(failure(await bench([entry('other')]).one(name)).kind).toBe('unknown_tool');
    const registry = createToolRegistry();
    expect(failure(await bench([], { registry: registry as never }).one(name))).toMatchObject({ kind: 'unknown_tool', message: `Unknown tool: ${name}` });
  });

  it('the real registry hands such a tool out', async () => {
    const registry = createToolRegistry();
    for (const name of NAMES) {
      const inputSchema = { parse: (x: unknown) => x, safeParse: (data: unknown) => ({ success: true as const, data }) };
      registry.register(tool({ name, description: 'd', inputSchema, execute: async () => name }) as never);
    }
    const b = bench([], { registry: registry as never });
    const records = await b.batch(NAMES);
    expect(records.map((record) => success(record).output)).toEqual(NAMES);
  });
});
