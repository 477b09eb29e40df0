/**
 * Zod 4, classic and mini: one small function a type (spec 01 section 8.5).
 *
 * @internal
 */
import { isZodV4Schema } from '../detect.js';
import { objectNode } from '../objects.js';
import { isRecord, read } from '../read.js';
import * as shared from '../shared.js';
import type { JsonSchemaRecord, ZodV4Like } from '../types.js';
import type { Walk } from '../walk.js';
import { arrayNode, numberNode, stringNode } from './scalars.js';

type Def = ZodV4Like['_zod']['def'];
type Processor = (def: Def, walk: Walk) => JsonSchemaRecord;

const anything: Processor = () => ({});
const inner: Processor = (def, walk) => walk.project(def['innerType']);
const withDefault: Processor = (def, walk) => shared.withDefault(walk.project(def['innerType']), def);

/**
 * Whether a zod 4 object may leave this property out. Newer versions of zod tell defaulted
 * properties from optional ones; a caller may leave out both.
 */
function isOptionalInV4(schema: unknown, walk: Walk): boolean {
  const internals = read(schema, '_zod');
  if (walk.side === 'output') return read(internals, 'optout') === 'optional';
  const optin = read(internals, 'optin');
  return optin === 'optional' || optin === 'defaulted';
}

function object(def: Def, walk: Walk): JsonSchemaRecord {
  const node = objectNode(() => def['shape'], (schema) => isOptionalInV4(schema, walk), `zod-v4:${def.type}`, walk);
  const catchall = def['catchall'];
  if (isZodV4Schema(catchall) && catchall._zod.def.type === 'never') node['additionalProperties'] = false;
  else if (catchall !== undefined && catchall !== null) node['additionalProperties'] = walk.at('*', catchall);
  return node;
}

function isEnumerable(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function enumNode(def: Def): JsonSchemaRecord {
  const entries = isRecord(def['entries']) ? Object.values(def['entries']) : [];
  return shared.enumeration(entries.filter(isEnumerable));
}

function literal(def: Def): JsonSchemaRecord {
  const all: readonly unknown[] = Array.isArray(def['values']) ? def['values'] : [];
  const values = all.filter((value) => value !== undefined);
  return values.length === 1 ? shared.literal(values[0]) : { enum: values.filter(isEnumerable) };
}

const PROCESSORS = new Map<string, Processor>([
  ['string', stringNode],
  ['number', numberNode],
  ['bigint', () => ({ type: 'integer' })],
  ['boolean', () => ({ type: 'boolean' })],
  ['success', () => ({ type: 'boolean' })],
  ['date', () => ({ type: 'string', format: 'date-time' })],
  ['null', () => ({ type: 'null' })],
  ['nan', () => ({ type: 'number' })],
  ['template_literal', () => ({ type: 'string' })],
  ['any', anything],
  ['unknown', anything],
  ['undefined', anything],
  ['void', anything],
  ['never', () => ({ not: {} })],
  ['literal', literal],
  ['enum', enumNode],
  ['object', object],
  ['array', arrayNode],
  ['tuple', shared.tuple],
  ['record', shared.record],
  ['set', (def, walk) => ({ type: 'array', uniqueItems: true, items: walk.at('*', def['valueType']) })],
  ['union', (def, walk) => shared.union(def['options'], walk)],
  ['intersection', shared.intersection],
  ['optional', inner],
  ['nonoptional', inner],
  ['readonly', inner],
  ['catch', inner],
  ['promise', inner],
  ['nullable', (def, walk) => shared.nullable(walk.project(def['innerType']))],
  ['default', withDefault],
  ['prefault', withDefault],
  ['pipe', (def, walk) => walk.project(def[walk.side === 'input' ? 'in' : 'out'])],
  ['lazy', shared.lazy],
]);

/** Converts one zod 4 node. @internal */
export function projectV4(schema: ZodV4Like, walk: Walk): JsonSchemaRecord {
  const { def } = schema._zod;
  const processor = PROCESSORS.get(def.type);
  return processor === undefined ? walk.unsupported(`zod-v4:${def.type}`) : processor(def, walk);
}
