import { type SchemaFallback, projectSchemaToJsonSchema } from 'ferrule/schema';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod3';

describe('P03 one unrepresentable field kills the whole tool list', () => {
  const kinds = {
    date: z.date(),
    bigint: z.bigint(),
    map: z.map(z.string(), z.string()),
    set: z.set(z.string()),
    symbol: z.symbol(),
    undefined: z.undefined(),
    void: z.void(),
    nan: z.nan(),
    transform: z.string().transform((s) => s.length),
    custom: z.custom(() => true),
    file: z.file(),
    instance: z.instanceof(URL),
    lazy: z.lazy((): never => {
      throw new Error('no');
    }),
  };

  it.each(Object.entries(kinds))('%s', (kind, field) => {
    const tools = [
      { name: 'one', inputSchema: z.object({ a: z.string() }) },
      { name: 'two', inputSchema: z.object({ since: z.array(field as z.ZodType), ok: z.string() }) },
      { name: 'three', inputSchema: z3.object({ b: z3.number() }) },
    ];
    const warnings: Array<SchemaFallback & { tool: string }> = [];
    const listed = tools.map(({ name, inputSchema }) =>
      projectSchemaToJsonSchema(inputSchema, { onFallback: (f) => warnings.push({ ...f, tool: name }) }),
    );
    expect(() => JSON.stringify(listed)).not.toThrow();
    expect(listed.map((schema) => schema?.['type'])).toEqual(['object', 'object', 'object']);
    expect(listed[1]?.['properties']).toMatchObject({ ok: { type: 'string' } });
    for (const warning of warnings) expect(warning).toMatchObject({ tool: 'two', path: ['since', '*'] });
    const silent = ['date', 'bigint', 'set', 'undefined', 'void', 'nan', 'transform'];
    expect(warnings.length).toBe(silent.includes(kind) ? 0 : 1);
  });

  it('dates and bigints have a form', () => {
    expect(projectSchemaToJsonSchema(z.date())).toEqual({ type: 'string', format: 'date-time' });
    expect(projectSchemaToJsonSchema(z.bigint())).toEqual({ type: 'integer' });
  });
});
