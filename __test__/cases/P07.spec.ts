import { projectToolApi } from 'ferrule/code-mode';
import { jsonSchema } from 'ferrule/schema';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const tree = (ref: string): Record<string, unknown> => ({
  type: 'object',
  properties: { name: { type: 'string' }, kids: { type: 'array', items: { $ref: ref } } },
  required: ['name', 'kids'],
});

describe('P07 recursive schemas', () => {
  const root = tree('#');
  const nested = { type: 'object', properties: { tree: { $ref: '#/$defs/__schema0' } }, $defs: { __schema0: tree('#/$defs/__schema0') } };
  const good = { name: 'a', kids: [{ name: 'b', kids: [] }] };
  const bad = { name: 'a', kids: [{ name: 'b', kids: [{ name: 1, kids: [] }] }] };

  it('validation works on both', () => {
    expect(jsonSchema(root).safeParse(good).success).toBe(true);
    expect(jsonSchema(nested).safeParse({ tree: good }).success).toBe(true);
    expect(jsonSchema(root).safeParse(bad)).toMatchObject({ error: { issues: [{ path: ['kids', 0, 'kids', 0, 'name'] }] } });
    expect(jsonSchema(nested).safeParse({ tree: bad })).toMatchObject({ error: { issues: [{ path: ['tree', 'kids', 0, 'kids', 0, 'name'] }] } });
  });

  it('what zod makes of its own recursive schema validates too', () => {
    interface Tree { name: string; kids: Tree[] }
    const schema: z.ZodType<Tree> = z.object({ name: z.string(), get kids() { return z.array(schema); } });
    for (const raw of [z.toJSONSchema(schema), z.toJSONSchema(z.object({ tree: schema }))]) {
      expect(jsonSchema(raw as Record<string, unknown>).problem()).toBeUndefined();
    }
  });

  it('the signature stops at the cycle with a named type', () => {
    const api = projectToolApi([{ name: 'root', inputSchema: root }, { name: 'nested', inputSchema: nested }]);
    expect(api.signatureFor('root')).toContain('type Input = { "name": string; "kids": Input[] };');
    expect(api.signatureFor('nested')).toContain('(input: { "tree"?: Schema0 })');
    expect(api.signatureFor('nested')).toContain('type Schema0 = { "name": string; "kids": Schema0[] };');
  });

  it('data with keys named $ref is data', () => {
    const data = { $ref: 'http://127.0.0.1:1/', $defs: { $ref: '#' } };
    expect(jsonSchema({ type: 'object' }).parse(data)).toBe(data);
    expect(jsonSchema({ const: data }).safeParse(data).success).toBe(true);
    expect(jsonSchema({ enum: [data] }).safeParse({ $ref: 'other' }).success).toBe(false);
  });
});
