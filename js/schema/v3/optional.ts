import { isZodV3Schema } from '../detect.js';
import { read } from '../read.js';
import type { SchemaSide } from '../types.js';

/** Lazy schemas may lead on for ever, each step to a new object. */
const MAX_HOPS = 24;

const OPTIONAL = new Set(['ZodOptional', 'ZodUndefined']);
/** Absent from what a caller must give, present in what a parse yields. */
const FILLED_IN = new Set(['ZodDefault', 'ZodCatch']);

/** Where each transparent wrapper keeps the schema that decides. */
const THROUGH = new Map<string, string>([
  ['ZodNullable', 'innerType'],
  ['ZodReadonly', 'innerType'],
  ['ZodBranded', 'type'],
  ['ZodEffects', 'schema'],
]);

/** Whether a zod 3 object may leave this property out (spec 01 section 8.6). @internal */
export function isOptionalInV3(schema: unknown, side: SchemaSide): boolean {
  let current = schema;
  for (let hop = 0; hop <= MAX_HOPS; hop += 1) {
    if (!isZodV3Schema(current)) return false;
    const { _def: def } = current;
    if (OPTIONAL.has(def.typeName)) return true;
    if (FILLED_IN.has(def.typeName)) return side === 'input';
    const through = THROUGH.get(def.typeName);
    if (through !== undefined) {
      current = read(def, through);
    } else if (def.typeName === 'ZodPipeline') {
      current = read(def, side === 'input' ? 'in' : 'out');
    } else if (def.typeName === 'ZodLazy') {
      try {
        current = (def['getter'] as () => unknown)();
      } catch {
        return false;
      }
    } else {
      return false;
    }
  }
  return false;
}
