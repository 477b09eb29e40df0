/**
 * Constructs both lines of zod describe alike.
 *
 * @internal
 */
import { isRecord, read } from './read.js';
import type { JsonSchemaRecord } from './types.js';
import type { Walk } from './walk.js';

/** `{anyOf:[inner, null]}`, or `inner` itself when it is a union with a null branch. @internal */
export function nullable(inner: JsonSchemaRecord): JsonSchemaRecord {
  const branches = inner['anyOf'];
  const hasNull = Array.isArray(branches) && branches.some((b) => isRecord(b) && b['type'] === 'null');
  return hasNull ? inner : { anyOf: [inner, { type: 'null' }] };
}

/** `inner` with a `default`; no key when the default is undefined or its factory throws. @internal */
export function withDefault(inner: JsonSchemaRecord, def: unknown): JsonSchemaRecord {
  let value = read(def, 'defaultValue');
  if (typeof value === 'function') {
    try {
      value = (value as () => unknown)();
    } catch {
      value = undefined;
    }
  }
  return value === undefined ? inner : { ...inner, default: value };
}

/** The options of a union: an array, or the values of a Map. @internal */
export function unionOptions(options: unknown): readonly unknown[] {
  if (Array.isArray(options)) return options;
  return options instanceof Map ? [...options.values()] : [];
}

/** `{anyOf:[…]}` over the options. @internal */
export function union(options: unknown, walk: Walk): JsonSchemaRecord {
  return { anyOf: unionOptions(options).map((option) => walk.project(option)) };
}

/** `{allOf:[left, right]}`. @internal */
export function intersection(def: unknown, walk: Walk): JsonSchemaRecord {
  return { allOf: [walk.project(read(def, 'left')), walk.project(read(def, 'right'))] };
}

/** `{type:'array', prefixItems:[…], items?}`. @internal */
export function tuple(def: unknown, walk: Walk): JsonSchemaRecord {
  const items = read(def, 'items');
  const prefixItems = (Array.isArray(items) ? items : []).map((item, index) => walk.at(index, item));
  const rest = read(def, 'rest');
  const node: JsonSchemaRecord = { type: 'array', prefixItems };
  if (rest !== null && rest !== undefined) node['items'] = walk.at('*', rest);
  return node;
}

/** `{type:'object', additionalProperties}`; the key schema has no place in it. @internal */
export function record(def: unknown, walk: Walk): JsonSchemaRecord {
  return { type: 'object', additionalProperties: walk.at('*', read(def, 'valueType')) };
}

/** What `getter()` yields, or the report that it threw. @internal */
export function lazy(def: unknown, walk: Walk): JsonSchemaRecord {
  let inner: unknown;
  try {
    inner = (def as { getter(): unknown }).getter();
  } catch {
    return walk.unsupported('lazy-getter-threw');
  }
  return walk.project(inner);
}

/** `{type, const}` of one literal value. @internal */
export function literal(value: unknown): JsonSchemaRecord {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
      return { type: typeof value, const: value };
    case 'bigint':
      return { type: 'integer', const: Number(value) };
    default:
      return value === null ? { type: 'null', const: null } : { const: value };
  }
}

/** The common JSON type of enum values, if they have one. @internal */
export function uniformType(values: readonly unknown[]): 'string' | 'number' | undefined {
  if (values.every((value) => typeof value === 'string')) return 'string';
  return values.every((value) => typeof value === 'number') ? 'number' : undefined;
}

/** `{enum, type?}`. @internal */
export function enumeration(values: readonly unknown[]): JsonSchemaRecord {
  const type = uniformType(values);
  return type === undefined ? { enum: values } : { enum: values, type };
}
