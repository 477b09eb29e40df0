import { projectToolApi } from 'ferrule/code-mode';
import { jsonSchema } from 'ferrule/schema';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

describe('P09 enum-keyed records', () => {
  const keys = z.enum(['a', 'b']);
  const raw = (schema: z.ZodType): Record<string, unknown> => z.toJSONSchema(schema) as Record<string, unknown>;
  const signature = (schema: unknown): string => projectToolApi([{ name: 't', inputSchema: schema }]).signatureFor('t') ?? '';

  it('record and partialRecord render to usable types', () => {
    expect(signature(raw(z.record(keys, z.number())))).toContain('(input: Record<"a" | "b", number>)');
    expect(signature(raw(z.partialRecord(keys, z.number())))).toContain('(input: Partial<Record<"a" | "b", number>>)');
  });

  it('and validate', () => {
    const full = jsonSchema(raw(z.record(keys, z.number())));
    expect(full.safeParse({ a: 1, b: 2 }).success).toBe(true);
    expect(full.safeParse({ a: 1 })).toMatchObject({ error: { message: 'b: is required' } });
    const partial = jsonSchema(raw(z.partialRecord(keys, z.number())));
    expect(partial.safeParse({ a: 1 }).success).toBe(true);
    expect(partial.safeParse({ c: 1 })).toMatchObject({ error: { message: 'has a property name that is not one of "a", "b"' } });
  });
});
