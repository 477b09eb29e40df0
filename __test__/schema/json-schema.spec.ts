import fc from 'fast-check';
import {
  JsonSchemaValidationError,
  jsonSchema,
  looksLikeJsonSchema,
  projectSchemaToJsonSchema,
  toolInputJsonSchema,
} from 'ferrule/schema';
import { describe, expect, it, vi } from 'vitest';
import { type ZodLikeSafeParseResult, validateOrThrow } from 'ferrule/core';

const RAW = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
  required: ['city'],
};

function errorOf(result: ZodLikeSafeParseResult<unknown>): JsonSchemaValidationError {
  if (result.success) throw new Error('expected a failure');
  return result.error as JsonSchemaValidationError;
}

describe('jsonSchema()', () => {
  it('parses, and returns the value by reference', () => {
    const schema = jsonSchema(RAW);
    const data = { city: 'x', extra: { a: [1] } };
    expect(schema.parse(data)).toBe(data);
    expect(schema.safeParse(data)).toEqual({ success: true, data });
    const { parse, safeParse, toJSON, problem } = schema;
    expect([parse(data), safeParse(data).success, toJSON(), problem()]).toEqual([data, true, RAW, undefined]);
  });

  it('says what is wrong, path first, in one message', () => {
    const result = jsonSchema(RAW).safeParse({ days: 0 });
    expect(result.success).toBe(false);
    const error = errorOf(result);
    expect(error).toBeInstanceOf(JsonSchemaValidationError);
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe('JsonSchemaValidationError');
    expect(new Set(error.message.split('; '))).toEqual(new Set(['city: is required', 'days: must be at least 1']));
    expect(error.issues).toContainEqual({ code: 'required', path: ['city'], message: 'is required' });
    expect(() => jsonSchema(RAW).parse({ days: 0 })).toThrow(JsonSchemaValidationError);
    expect(jsonSchema(RAW).safeParse(3)).toMatchObject({ error: { message: 'expected object, received number' } });
    expect(jsonSchema({ items: { items: { type: 'string' } } }).safeParse([['a', 1]])).toMatchObject({
      error: { message: '[0][1]: expected string, received number', issues: [{ path: [0, 1] }] },
    });
  });

  it('is a schema everywhere: core, projection, Standard Schema', () => {
    const schema = jsonSchema(RAW);
    expect(() => validateOrThrow(schema, {}, 'args')).toThrow('graphorin: validation failed for args: city: is required');
    expect(projectSchemaToJsonSchema(schema)).toBe(RAW);
    expect(looksLikeJsonSchema(schema)).toBe(false);
    expect(schema['~standard']).toMatchObject({ version: 1, vendor: 'ferrule' });
    expect(schema['~standard'].validate({ city: 'x' })).toEqual({ value: { city: 'x' } });
    expect(schema['~standard'].validate({})).toEqual({ issues: [{ message: 'is required', path: ['city'] }] });
  });

  it.each([
    ['no schema', undefined, { any: 1 }, 3],
    ['null', null, {}, []],
    ['false', false, undefined, {}],
  ] as const)('%s', (_name, raw, good, bad) => {
    const schema = jsonSchema(raw);
    if (good !== undefined) expect(schema.safeParse(good).success).toBe(true);
    expect(schema.safeParse(bad).success).toBe(false);
  });
  it('true accepts everything', () => expect(jsonSchema(true).safeParse(3).success).toBe(true));

  it.each<[string, unknown, string]>([
    ['undefined', undefined, 'not-json'],
    ['a function', () => 1, 'not-json'],
    ['a bigint', { a: 1n }, 'not-json'],
    ['a cycle', (() => { const a: Record<string, unknown> = {}; a['a'] = a; return a; })(), 'not-json'],
    ['a throwing toJSON', { toJSON() { throw new Error('secret'); } }, 'not-json'],
  ])('%s is an issue, never an exception', (_name, value, code) => {
    const result = jsonSchema({}).safeParse(value);
    expect(result).toMatchObject({ success: false, error: { issues: [{ code, path: [] }] } });
    expect(JSON.stringify(result)).not.toContain('secret');
  });

  it.each([128, 5_000, 100_000])('a value %d levels deep is a typed issue', (levels) => {
    let value: unknown = 1;
    for (let level = 0; level < levels; level += 1) value = [value];
    expect(jsonSchema({}).safeParse(value)).toMatchObject({ error: { issues: [{ code: 'too-deep' }] } });
  });

  it('127 levels are fine', () => {
    let value: unknown = 1;
    for (let level = 0; level < 127; level += 1) value = [value];
    expect(jsonSchema({ items: { $ref: '#' } }).safeParse(value).success).toBe(true);
  });

  it('lone surrogates in keys and values are no failure', () => {
    const value = { '\ud83d': ['\udc00', 'fine 🦊'] };
    const schema = jsonSchema({ additionalProperties: { type: 'array', items: { type: 'string', maxLength: 6 } } });
    expect(schema.parse(value)).toBe(value);
    expect(jsonSchema({ const: '\ud83d' }).safeParse('\ud83d').success).toBe(true);
    expect(errorOf(schema.safeParse({ 'a\ud83d': 1 })).issues[0]?.path).toEqual(['a\ufffd']);
  });

  it('lengths count code points', () => {
    expect(jsonSchema({ maxLength: 1 }).safeParse('🦊').success).toBe(true);
    expect(jsonSchema({ maxLength: 1 }).safeParse('\ud83d').success).toBe(true);
  });

  it.each([
    ['unknown dialect', { $schema: 'https://example.com/custom' }, 'unknown-dialect'],
    ['dangling reference', { $ref: '#/nope' }, 'unresolvable-ref'],
    ['bad type', { type: 'strin' }, 'invalid-schema'],
    ['bad pattern', { pattern: '(' }, 'invalid-schema'],
    ['bigint', { const: 1n }, 'not-json'],
    ['toJSON that throws', { toJSON() { throw new Error('no'); } }, 'not-json'],
    ['toJSON without text', { toJSON: () => undefined }, 'not-json'],
  ])('an unusable schema (%s) accepts or refuses everything, and is reported once', (_name, raw, code) => {
    const onReport = vi.fn();
    const open = jsonSchema(raw, { onReport });
    expect(onReport).not.toHaveBeenCalled();
    const data = { a: 1 };
    expect(open.parse(data)).toBe(data);
    open.safeParse(data);
    expect(onReport.mock.calls).toEqual([[{ code, message: expect.any(String) }]]);
    expect(open.problem()).toMatchObject({ code });
    expect(onReport).toHaveBeenCalledTimes(1);
    const refused = jsonSchema(raw, { onUnusable: 'refuse' }).safeParse(data);
    expect(refused).toMatchObject({ success: false, error: { issues: [{ code: 'schema', path: [] }] } });
  });

  it('formats describe unless asserted', () => {
    expect(jsonSchema({ format: 'email' }).safeParse('x').success).toBe(true);
    expect(jsonSchema({ format: 'email' }, { formats: 'assert' }).safeParse('x').success).toBe(false);
    expect(jsonSchema({ format: 'int32' }, { formats: 'assert' }).safeParse('x').success).toBe(true);
  });

  it('ten thousand schemas cost nothing until used', () => {
    const started = performance.now();
    const all = Array.from({ length: 10_000 }, (_, i) => jsonSchema({ ...RAW, title: String(i) }));
    expect(performance.now() - started).toBeLessThan(500);
    expect(all[9_999]?.safeParse({}).success).toBe(false);
  });

  it('agrees with a plain check for any JSON value', () => {
    const schema = jsonSchema({ type: ['string', 'boolean', 'null'] });
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const expected = value === null || typeof value === 'string' || typeof value === 'boolean';
        const result = schema.safeParse(value);
        expect(result.success).toBe(expected);
        if (result.success) expect(result.data).toBe(value);
      }),
    );
  });
});

describe('prototype keys (P25)', () => {
  const hostile = (): unknown =>
    JSON.parse('{"a":1,"__proto__":{"admin":true},"x":{"constructor":{"prototype":{"p":1}},"keep":[{"__proto__":1}]}}');

  it('are left out by default, the rest is kept by reference', () => {
    const data = hostile() as { x: { other?: unknown } };
    const other = { deep: true };
    data.x.other = other;
    const result = jsonSchema({}).parse(data) as { x: { other: unknown } };
    expect(JSON.stringify(result)).toBe('{"a":1,"x":{"keep":[{}],"other":{"deep":true}}}');
    expect(result.x.other).toBe(other);
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(Object.hasOwn(data, '__proto__')).toBe(true);
  });

  it('are left out before the check', () => {
    const data = JSON.parse('{"__proto__":1}') as unknown;
    expect(jsonSchema({ additionalProperties: false }).safeParse(data).success).toBe(true);
    expect(jsonSchema({ additionalProperties: false }, { allowPrototypeKeys: true }).safeParse(data).success).toBe(false);
  });

  it('are delivered on objects without a prototype when allowed', () => {
    const result = jsonSchema({}, { allowPrototypeKeys: true }).parse(hostile()) as Record<string, Record<string, unknown>>;
    expect(Object.getPrototypeOf(result)).toBeNull();
    expect(Object.keys(result)).toEqual(['a', '__proto__', 'x']);
    expect(Object.getPrototypeOf(result['x'])).toBeNull();
    expect(result['x']?.['constructor']).toEqual({ prototype: { p: 1 } });
  });

  it('harmless namesakes stay, by reference', () => {
    for (const data of [{ constructor: 'text' }, { prototype: 1 }, { text: '"__proto__":' }, { constructor: { name: 'x' } }]) {
      expect(jsonSchema({}).parse(data)).toBe(data);
    }
  });
});

describe('toolInputJsonSchema', () => {
  it.each([
    ['none', undefined, { type: 'object', properties: {} }],
    ['empty', {}, { type: 'object', properties: {} }],
    ['no properties', { type: 'object', additionalProperties: false }, { type: 'object', additionalProperties: false, properties: {} }],
    ['union at the root', { anyOf: [] }, { type: 'object', anyOf: [] }],
    ['another type', { type: 'string' }, { type: 'string' }],
  ])('%s', (_name, projected, expected) => {
    expect(toolInputJsonSchema(projected)).toEqual(expected);
  });
  it('an object schema is returned by reference', () => {
    expect(toolInputJsonSchema(RAW)).toBe(RAW);
  });
});
