import { jsonSchema } from 'ferrule/schema';
import { describe, expect, it, vi } from 'vitest';

describe('P13 draft dialects', () => {
  const tuple2020 = { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ type: 'string' }], items: false };
  const tuple7 = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    definitions: { text: { type: 'string' } },
    items: [{ $ref: '#/definitions/text' }],
    additionalItems: false,
  };
  const none = { items: [{ type: 'string' }], additionalItems: false };
  const custom = { $schema: 'https://example.com/custom', type: 'string' };

  it.each([['2020-12', tuple2020], ['draft 7', tuple7], ['array-form items, no $schema', none]])('%s validates by its own rules', (_name, raw) => {
    const schema = jsonSchema(raw);
    expect(schema.problem()).toBeUndefined();
    expect(schema.safeParse(['a']).success).toBe(true);
    expect(schema.safeParse([1]).success).toBe(false);
    expect(schema.safeParse(['a', 1]).success).toBe(false);
  });

  it('an unknown dialect is unvalidated, with a warning, and no other schema suffers', () => {
    const onReport = vi.fn();
    const all = [tuple2020, tuple7, none, custom].map((raw) => jsonSchema(raw, { onReport }));
    expect(all.map((schema) => schema.toJSON())).toEqual([tuple2020, tuple7, none, custom]);
    expect(all.map((schema) => schema.safeParse(['a']).success)).toEqual([true, true, true, true]);
    expect(onReport).toHaveBeenCalledTimes(1);
    expect(onReport.mock.calls[0]?.[0]).toMatchObject({ code: 'unknown-dialect' });
    expect(onReport.mock.calls[0]?.[0].message).toContain('https://example.com/custom');
  });

  it.each([
    ['draft 4', { $schema: 'http://json-schema.org/draft-04/schema#', minimum: 1, exclusiveMinimum: true }],
    ['draft 6', { $schema: 'http://json-schema.org/draft-06/schema#', exclusiveMinimum: 1 }],
    ['2019-09', { $schema: 'https://json-schema.org/draft/2019-09/schema', exclusiveMinimum: 1 }],
    ['draft 4 rules without $schema', { minimum: 1, exclusiveMinimum: true }],
  ])('%s', (_name, raw) => {
    expect(jsonSchema(raw).safeParse(1).success).toBe(false);
    expect(jsonSchema(raw).safeParse(2).success).toBe(true);
  });
});
