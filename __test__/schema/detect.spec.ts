import { isZodSchema, isZodV3Schema, isZodV4Schema, looksLikeJsonSchema } from 'ferrule/schema';
import { describe, expect, it } from 'vitest';
import { z as z4 } from 'zod';
import * as mini from 'zod/mini';
import { z as z3 } from 'zod3';
import { z as z325v4 } from 'zod3/v4';

describe('8.1 detection', () => {
  it.each([
    ['zod 3', z3.string(), true, false],
    ['zod 3.25 v4', z325v4.string(), false, true],
    ['zod 4', z4.object({}), false, true],
    ['zod mini', mini.string(), false, true],
    ['v4 by shape', { _zod: { def: { type: 'x' } } }, false, true],
    ['v4 without a type', { _zod: { def: {} } }, false, false],
    ['v3 by shape', { _def: { typeName: 'ZodX' }, safeParse() {} }, true, false],
    ['v3 without safeParse', { _def: { typeName: 'ZodX' } }, false, false],
    ['v3 of another name', { _def: { typeName: 'X' }, safeParse() {} }, false, false],
    ['both, v4 wins', { _def: { typeName: 'ZodX' }, safeParse() {}, _zod: { def: { type: 'x' } } }, false, true],
    ['function', () => 1, false, false],
    ['null', null, false, false],
    ['undefined', undefined, false, false],
    ['text', 'x', false, false],
    ['JSON Schema', { type: 'object' }, false, false],
  ])('%s', (_name, value, isV3, isV4) => {
    expect(isZodV3Schema(value)).toBe(isV3);
    expect(isZodV4Schema(value)).toBe(isV4);
    expect(isZodSchema(value)).toBe(isV3 || isV4);
  });
});

describe('8.2 looksLikeJsonSchema', () => {
  const keywords = ['type', 'properties', 'items', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', '$ref', '$defs', 'not', 'additionalProperties', 'required'];
  it.each(keywords)('%s marks a schema, own or inherited', (keyword) => {
    expect(looksLikeJsonSchema({ [keyword]: undefined })).toBe(true);
    expect(looksLikeJsonSchema(Object.assign(Object.create({ [keyword]: 1 }), { x: 1 }))).toBe(true);
  });
  it.each([
    ['empty', {}, true],
    ['a Map', new Map(), true],
    ['title', { title: 'x' }, false],
    ['$schema', { $schema: 'x' }, false],
    ['description', { description: 'x' }, false],
    ['format', { format: 'x' }, false],
    ['prefixItems', { prefixItems: [] }, false],
    ['parse', { type: 'x', parse() {} }, false],
    ['safeParse', { type: 'x', safeParse() {} }, false],
    ['parse as data', { type: 'x', parse: 'x' }, true],
    ['array', [], false],
    ['null', null, false],
    ['text', 'type', false],
    ['function', () => 1, false],
  ])('%s', (_name, value, expected) => {
    expect(looksLikeJsonSchema(value)).toBe(expected);
  });
});
