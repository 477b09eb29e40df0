import { jsonSchema, projectSchemaToJsonSchema } from 'ferrule/schema';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { z as z3 } from 'zod3';
import { z as z325v4 } from 'zod3/v4';

describe('P01 defaults turned into required fields', () => {
  it.each([
    ['zod 3', z3.object({ unit: z3.string().default('c') })],
    ['zod 3.25 v4', z325v4.object({ unit: z325v4.string().default('c') })],
    ['zod 4', z.object({ unit: z.string().default('c') })],
    ['zod mini', mini.object({ unit: mini._default(mini.string(), 'c') })],
    ['catch', z.object({ unit: z.string().catch('c') })],
    ['prefault', z.object({ unit: z.string().prefault('c') })],
    ['default behind a transform', z.object({ unit: z.string().default('c').transform((u) => u) })],
    ['default behind nullable', z.object({ unit: z.string().default('c').nullable() })],
  ])('%s: the input side leaves it out, the output side requires it', (_name, schema) => {
    expect('required' in (projectSchemaToJsonSchema(schema) ?? {})).toBe(false);
    expect(projectSchemaToJsonSchema(schema, { side: 'output' })?.['required']).toEqual(['unit']);
  });

  it('optional stays optional on both sides, a plain field required', () => {
    const schema = z.object({ a: z.string().optional(), b: z.string() });
    for (const side of ['input', 'output'] as const) {
      expect(projectSchemaToJsonSchema(schema, { side })?.['required']).toEqual(['b']);
    }
  });

  it('pipes and transforms show their own end on each side', () => {
    const schema = z.object({ n: z.string().pipe(z.coerce.number()) });
    expect(projectSchemaToJsonSchema(schema)?.['properties']).toEqual({ n: { type: 'string' } });
    expect(projectSchemaToJsonSchema(schema, { side: 'output' })?.['properties']).toEqual({ n: { type: 'number' } });
    for (const [transformed, report] of [
      [z.string().transform(Number), 'zod-v4:transform'],
      [z3.string().transform(Number), 'zod-v3:ZodEffects'],
    ] as const) {
      const reports: string[] = [];
      const options = { side: 'output', onUnsupported: (detail: string) => reports.push(detail) } as const;
      expect(projectSchemaToJsonSchema(transformed, options)).toEqual({});
      expect(reports).toEqual([report]);
    }
  });

  it('a raw schema keeps its own answer', () => {
    const raw = { type: 'object', properties: { unit: { type: 'string', default: 'c' } } };
    expect(projectSchemaToJsonSchema(jsonSchema(raw))).toBe(raw);
    expect(jsonSchema(raw).safeParse({}).success).toBe(true);
  });
});
