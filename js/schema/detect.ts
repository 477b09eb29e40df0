import { isObject, isRecord, read } from './read.js';
import type { JsonSchemaRecord, ZodV3Like, ZodV4Like } from './types.js';

/**
 * Whether a value is a zod 4 schema (classic or mini), whichever copy of zod made it
 * (spec 01 section 8.1).
 */
export function isZodV4Schema(value: unknown): value is ZodV4Like {
  if (!isObject(value)) return false;
  const def = read(read(value, '_zod'), 'def');
  return isObject(read(value, '_zod')) && isObject(def) && typeof read(def, 'type') === 'string';
}

/** Whether a value is a zod 3 schema. Zod 4 objects also carry `_def` and do not count. */
export function isZodV3Schema(value: unknown): value is ZodV3Like {
  if (!isObject(value) || isZodV4Schema(value)) return false;
  const def = read(value, '_def');
  const typeName = isObject(def) ? read(def, 'typeName') : undefined;
  return (
    typeof typeName === 'string' &&
    typeName.startsWith('Zod') &&
    typeof read(value, 'safeParse') === 'function'
  );
}

/** Whether a value is a zod schema of either line. */
export function isZodSchema(value: unknown): boolean {
  return isZodV4Schema(value) || isZodV3Schema(value);
}

const MARKERS = [
  'type',
  'properties',
  'items',
  'anyOf',
  'oneOf',
  'allOf',
  'enum',
  'const',
  '$ref',
  '$defs',
  'not',
  'additionalProperties',
  'required',
] as const;

/**
 * Whether a value may be taken for a JSON Schema as it is: an object that is no validator
 * (no `parse` or `safeParse` function) and either is empty or has one of the keywords
 * `type`, `properties`, `items`, `anyOf`, `oneOf`, `allOf`, `enum`, `const`, `$ref`, `$defs`, `not`,
 * `additionalProperties`, `required` (own or inherited).
 */
export function looksLikeJsonSchema(value: unknown): value is JsonSchemaRecord {
  if (!isRecord(value)) return false;
  try {
    if (typeof value['parse'] === 'function' || typeof value['safeParse'] === 'function') return false;
    return Object.keys(value).length === 0 || MARKERS.some((marker) => marker in value);
  } catch {
    // A throwing getter or a revoked proxy: nothing that could be passed on as data.
    return false;
  }
}
