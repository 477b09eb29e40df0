import { isObject, setOwn } from './read.js';
import type { JsonSchemaRecord } from './types.js';
import type { Walk } from './walk.js';

/**
 * `{type, properties, required?}` of a shape; the caller adds `additionalProperties`.
 *
 * @param shape gives the property schemas; may throw.
 * @param isOptional judges one property schema by the rules of the object's own line of zod.
 * @param kind is reported when the shape cannot be read.
 * @internal
 */
export function objectNode(
  shape: () => unknown,
  isOptional: (schema: unknown) => boolean,
  kind: string,
  walk: Walk,
): JsonSchemaRecord {
  const properties: JsonSchemaRecord = {};
  const required: string[] = [];
  for (const [key, schema] of entries(shape, kind, walk)) {
    setOwn(properties, key, walk.at(key, schema));
    if (!isOptional(schema)) required.push(key);
  }
  const node: JsonSchemaRecord = { type: 'object', properties };
  if (required.length > 0) node['required'] = required;
  return node;
}

/** The properties of a shape. One whose getter throws keeps its place, without a schema. */
function entries(shape: () => unknown, kind: string, walk: Walk): Array<[string, unknown]> {
  try {
    const value = shape();
    if (!isObject(value)) return [];
    return Object.keys(value).map((key) => {
      try {
        return [key, value[key]];
      } catch {
        return [key, undefined];
      }
    });
  } catch {
    walk.unsupported(kind);
    return [];
  }
}
