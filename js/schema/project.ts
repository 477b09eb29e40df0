import { isZodSchema, looksLikeJsonSchema } from './detect.js';
import { isRecord, read } from './read.js';
import type { JsonSchemaRecord, ProjectSchemaOptions, SchemaSide } from './types.js';
import { Walk } from './walk.js';

/**
 * Describes a zod schema as JSON Schema, everything inlined (spec 01 section 8.4). Never runs
 * validation code; calls `default` factories, `lazy` getters and zod 3 `shape` thunks.
 *
 * What has no JSON Schema form becomes `{}` and is reported through the options: a schema met again
 * below itself (silently), one deeper than 24 levels, kinds such as maps, symbols and transforms,
 * and anything that is no zod schema. Never throws, unless a callback of the options does.
 *
 * @example
 * zodToJsonSchema(z.object({ city: z.string(), days: z.number().int().default(1) }));
 * // { type: 'object',
 * //   properties: { city: { type: 'string' }, days: { type: 'integer', default: 1 } },
 * //   required: ['city'] }
 */
export function zodToJsonSchema(schema: unknown, opts: ProjectSchemaOptions = {}): JsonSchemaRecord {
  return new Walk(opts).project(schema);
}

/**
 * Finds the JSON Schema of whatever a tool declares as its schema. The first that fits:
 *
 * 1. null and undefined have none: returns undefined, without a report;
 * 2. a Standard Schema that is not zod's and offers `~standard.jsonSchema`: what that gives;
 * 3. an object that `raw.toJSON()` returns, by reference; of a Standard Schema only when it can be a JSON
 *    Schema, since such libraries have forms of their own;
 * 4. a zod schema of either line, converted by {@link zodToJsonSchema};
 * 5. an object that {@link looksLikeJsonSchema} and is no Standard Schema, by reference;
 * 6. otherwise undefined, with the report `unprojectable-schema`.
 *
 * Never throws, unless a callback of the options does; getters and methods of `raw` that throw count
 * as absent.
 */
export function projectSchemaToJsonSchema(
  raw: unknown,
  opts: ProjectSchemaOptions = {},
): JsonSchemaRecord | undefined {
  if (raw === null || raw === undefined) return undefined;
  const isStandard = read(raw, '~standard') !== undefined && !isZodSchema(raw);
  const offered = isStandard ? standardJsonSchema(raw, opts.side ?? 'input') : undefined;
  if (offered !== undefined) return offered;
  const own = callToJson(raw);
  if (own !== undefined && (!isStandard || canBeJsonSchema(own))) return own;
  if (isZodSchema(raw)) return zodToJsonSchema(raw, opts);
  if (!isStandard && looksLikeJsonSchema(raw)) return raw;
  opts.onFallback?.({ detail: 'unprojectable-schema', path: [] });
  opts.onUnsupported?.('unprojectable-schema');
  return undefined;
}

function callToJson(raw: unknown): JsonSchemaRecord | undefined {
  if (typeof read(raw, 'toJSON') !== 'function') return undefined;
  try {
    const result = (raw as { toJSON(): unknown }).toJSON();
    return isRecord(result) ? result : undefined;
  } catch {
    return undefined;
  }
}

/** Whether an object has keywords of JSON Schema, and the one that is most often another library's too is no other's. */
function canBeJsonSchema(own: JsonSchemaRecord): boolean {
  const required = read(own, 'required');
  const names = Array.isArray(required) && required.every((name) => typeof name === 'string');
  return looksLikeJsonSchema(own) && (required === undefined || names);
}

/** The dialects to ask a Standard Schema for, the one we speak natively first. */
const TARGETS = ['draft-2020-12', 'draft-07'] as const;

/** The JSON Schema a Standard Schema gives of itself; libraries throw for targets they lack. */
function standardJsonSchema(raw: unknown, side: SchemaSide): JsonSchemaRecord | undefined {
  const converter = read(read(raw, '~standard'), 'jsonSchema');
  if (typeof read(converter, side) !== 'function') return undefined;
  for (const target of TARGETS) {
    try {
      const result = (converter as Record<SchemaSide, (o: { target: string }) => unknown>)[side]({ target });
      if (isRecord(result)) return result;
    } catch {
      // The next target, if there is one.
    }
  }
  return undefined;
}
