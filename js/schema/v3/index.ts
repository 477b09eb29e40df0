/**
 * Zod 3: one small function a type (spec 01 section 8.5).
 *
 * @internal
 */
import { isZodV3Schema } from '../detect.js';
import { objectNode } from '../objects.js';
import { isObject, isRecord, read } from '../read.js';
import * as shared from '../shared.js';
import type { JsonSchemaRecord, ZodV3Like } from '../types.js';
import type { Walk } from '../walk.js';
import { isOptionalInV3 } from './optional.js';
import { arrayNode, numberNode, setNode, stringNode } from './scalars.js';

type Def = ZodV3Like['_def'];
type Processor = (def: Def, walk: Walk) => JsonSchemaRecord;

const anything: Processor = () => ({});
const inner: Processor = (def, walk) => walk.project(def['innerType']);
const wrapped: Processor = (def, walk) => walk.project(def['type']);

function object(def: Def, walk: Walk): JsonSchemaRecord {
  const shape = (): unknown => {
    const value = def['shape'];
    return typeof value === 'function' ? (value as () => unknown).call(def) : value;
  };
  const node = objectNode(shape, (schema) => isOptionalInV3(schema, walk.side), `zod-v3:${def.typeName}`, walk);
  const { catchall, unknownKeys } = def;
  const hasCatchall = isZodV3Schema(catchall) ? catchall._def.typeName !== 'ZodNever' : isObject(catchall);
  if (hasCatchall) node['additionalProperties'] = walk.at('*', catchall);
  else if (unknownKeys === 'strict') node['additionalProperties'] = false;
  else if (unknownKeys === 'passthrough') node['additionalProperties'] = true;
  return node;
}

/** Members without the reverse mappings that TypeScript gives numeric enums. */
function nativeEnum(def: Def): JsonSchemaRecord {
  const members = isRecord(def['values']) ? Object.entries(def['values']) : [];
  const values = members
    .filter(([key, value]) => Number.isNaN(Number(key)) && (typeof value === 'string' || typeof value === 'number'))
    .map(([, value]) => value);
  return shared.enumeration(values);
}

/** Refinements and preprocessing leave the inner schema; a transform hides what comes out of it. */
function effects(def: Def, walk: Walk): JsonSchemaRecord {
  if (walk.side === 'output' && read(def['effect'], 'type') === 'transform') {
    return walk.unsupported('zod-v3:ZodEffects');
  }
  return walk.project(def['schema']);
}

const PROCESSORS = new Map<string, Processor>([
  ['ZodString', stringNode],
  ['ZodNumber', numberNode],
  ['ZodBigInt', () => ({ type: 'integer' })],
  ['ZodBoolean', () => ({ type: 'boolean' })],
  ['ZodDate', () => ({ type: 'string', format: 'date-time' })],
  ['ZodNull', () => ({ type: 'null' })],
  ['ZodNaN', () => ({ type: 'number' })],
  ['ZodAny', anything],
  ['ZodUnknown', anything],
  ['ZodUndefined', anything],
  ['ZodVoid', anything],
  ['ZodNever', () => ({ not: {} })],
  ['ZodLiteral', (def) => shared.literal(def['value'])],
  ['ZodEnum', (def) => ({ type: 'string', enum: Array.isArray(def['values']) ? [...def['values']] : [] })],
  ['ZodNativeEnum', nativeEnum],
  ['ZodObject', object],
  ['ZodArray', arrayNode],
  ['ZodTuple', shared.tuple],
  ['ZodRecord', shared.record],
  ['ZodSet', setNode],
  ['ZodUnion', (def, walk) => shared.union(def['options'], walk)],
  ['ZodDiscriminatedUnion', (def, walk) => shared.union(def['options'], walk)],
  ['ZodIntersection', shared.intersection],
  ['ZodOptional', inner],
  ['ZodNullable', (def, walk) => shared.nullable(walk.project(def['innerType']))],
  ['ZodDefault', (def, walk) => shared.withDefault(walk.project(def['innerType']), def)],
  ['ZodCatch', inner],
  ['ZodReadonly', inner],
  ['ZodBranded', wrapped],
  ['ZodPromise', wrapped],
  ['ZodEffects', effects],
  ['ZodPipeline', (def, walk) => walk.project(def[walk.side === 'input' ? 'in' : 'out'])],
  ['ZodLazy', shared.lazy],
]);

/** Converts one zod 3 node. @internal */
export function projectV3(schema: ZodV3Like, walk: Walk): JsonSchemaRecord {
  const def = schema._def;
  const kind = `zod-v3:${def.typeName}`;
  const processor = PROCESSORS.get(def.typeName);
  if (processor === undefined) return walk.unsupported(kind);
  return processor(def, walk);
}
