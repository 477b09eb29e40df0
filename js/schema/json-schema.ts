import type { StandardSchemaV1 } from '@standard-schema/spec';
import { native } from '../binding.js';
import type { ZodLikeError, ZodLikeSafeParseResult, ZodLikeSchema } from '../core/index.js';
import type * as Native from '../../native/binding.js';
import { type PrototypeKeys, defusePrototypeKeys, mayHoldPrototypeKeys } from './prototype-keys.js';
import { isRecord } from './read.js';
import type { JsonSchemaRecord } from './types.js';

/** One thing wrong with a value. */
export interface JsonSchemaIssue {
  /**
   * The JSON Schema keyword that refused, or `too-deep` (more than 127 levels), `not-json` (nothing
   * `JSON.stringify` can write), `schema` (the schema is unusable and the policy is to refuse, or
   * checking was given up).
   */
  readonly code: string;
  /** Property names and array positions. A missing property is named as the last step. */
  readonly path: ReadonlyArray<string | number>;
  /** What is wrong, without the path. Never quotes the value. */
  readonly message: string;
}

/** What makes a JSON Schema unusable. */
export interface JsonSchemaReport {
  /** What could not be kept. */
  readonly code: 'too-large' | 'too-deep' | 'not-json' | 'unknown-dialect' | 'unresolvable-ref' | 'invalid-schema';
  /** One sentence. */
  readonly message: string;
}

/** Options of {@link jsonSchema}. */
export interface JsonSchemaOptions {
  /**
   * What a schema that cannot be used does: `'unvalidated'` accepts every value, `'refuse'` none.
   * Default `'unvalidated'`: the server that owns the tool still checks its arguments.
   */
  readonly onUnusable?: 'unvalidated' | 'refuse';
  /** Told once, at first use, that the schema cannot be used. */
  readonly onReport?: (report: JsonSchemaReport) => void;
  /**
   * What `format`, `contentEncoding` and `contentMediaType` do, in every draft alike: `'annotate'`,
   * the default, refuses nothing for them; `'assert'` checks the formats the drafts define and
   * ignores names unknown to them.
   */
  readonly formats?: 'annotate' | 'assert';
  /**
   * Deliver own keys named `__proto__`, and `constructor` keys that lead to a `prototype`, as own keys
   * of objects without a prototype. Default false: they are left out, before the value is checked.
   */
  readonly allowPrototypeKeys?: boolean;
}

/** A raw JSON Schema as a validator; what {@link jsonSchema} makes. */
export interface JsonSchemaValidatorLike<T = unknown> extends ZodLikeSchema<T>, StandardSchemaV1<unknown, T> {
  /** The raw schema, by reference. */
  toJSON(): JsonSchemaRecord;
  /** Compiles the schema if that has not happened and says what makes it unusable, if anything does. */
  problem(): JsonSchemaReport | undefined;
}

/**
 * What {@link jsonSchema} throws from `parse` and returns from `safeParse`. Its message lists every
 * issue as `path: message`.
 */
export class JsonSchemaValidationError extends Error implements ZodLikeError {
  override readonly name = 'JsonSchemaValidationError';
  /** At most 20. */
  readonly issues: ReadonlyArray<JsonSchemaIssue>;

  constructor(issues: ReadonlyArray<JsonSchemaIssue>) {
    super(issues.map(render).join('; '));
    this.issues = issues;
  }
}

function render({ path, message }: JsonSchemaIssue): string {
  const where = path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`));
  return path.length === 0 ? message : `${where.join('')}: ${message}`;
}

type Compiled = Native.JsonSchemaValidator | JsonSchemaReport;

/** One compilation for each schema object and format policy, as long as the object lives. */
const compiled = { annotate: new WeakMap<object, Compiled>(), assert: new WeakMap<object, Compiled>() };

function compile(raw: object, formats: 'annotate' | 'assert'): Compiled {
  const known = compiled[formats].get(raw);
  if (known !== undefined) return known;
  const { compileJsonSchema } = native();
  const text = stringify(raw);
  let result: Compiled;
  if (typeof text !== 'string') {
    result = { code: 'not-json', message: `the schema ${text.message}` };
  } else {
    try {
      result = compileJsonSchema(text, formats === 'assert') as Compiled;
    } catch {
      // A panic of the compiler: the fault of one schema must not be everybody's.
      result = { code: 'invalid-schema', message: 'the schema makes the validator fail' };
    }
  }
  compiled[formats].set(raw, result);
  return result;
}

/** The JSON text of a value, or the issue that it has none. */
function stringify(value: unknown): string | JsonSchemaIssue {
  try {
    const text: string | undefined = JSON.stringify(value);
    return text ?? { code: 'not-json', path: [], message: `expected a JSON value, received ${typeof value}` };
  } catch (error) {
    if (error instanceof RangeError) return { code: 'too-deep', path: [], message: 'nested too deeply' };
    return { code: 'not-json', path: [], message: 'is not JSON: it holds a cycle, a bigint or a toJSON that throws' };
  }
}

const NO_ARGUMENTS: JsonSchemaRecord = Object.freeze({ type: 'object', properties: Object.freeze({}) });

/** The schema as an object; `true` and whatever else is no schema describe nothing. */
function rawSchema(schema: unknown): JsonSchemaRecord {
  if (isRecord(schema)) return schema;
  if (schema === null || schema === undefined) return NO_ARGUMENTS;
  return schema === false ? { not: {} } : {};
}

/**
 * Makes a validator of a raw JSON Schema, such as an MCP server sends: drafts 4, 6, 7, 2019-09 and
 * 2020-12, by `$schema`; without one, 2020-12, or if the schema is not valid there, draft 7, then 4.
 *
 * - Values are checked as `JSON.stringify` writes them and returned by reference; nothing is
 *   converted and no default applied. Only prototype keys are taken out (`allowPrototypeKeys`).
 * - A lone surrogate is checked as U+FFFD and returned as it is.
 * - Nothing is ever fetched: a `$ref` to another document makes the schema unusable.
 * - An unusable schema never throws: see `onUnusable`, `onReport` and `problem()`.
 * - Patterns, recursion and the whole check are bounded; values nest at most 127 levels.
 *
 * The schema is compiled at first use and shared by all validators of the same object, which must not
 * change afterwards. `null` and `undefined` stand for a tool without arguments.
 *
 * @example
 * const schema = jsonSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] });
 * schema.safeParse({}).error.message; // 'city: is required'
 */
export function jsonSchema<T = unknown>(
  schema: JsonSchemaRecord | boolean | null | undefined,
  options: JsonSchemaOptions = {},
): JsonSchemaValidatorLike<T> {
  const raw = rawSchema(schema);
  const formats = options.formats ?? 'annotate';
  const policy: PrototypeKeys = options.allowPrototypeKeys === true ? 'keep' : 'drop';
  const { onReport, onUnusable } = options;
  let reported = false;

  const problem = (): JsonSchemaReport | undefined => {
    const result = compile(raw, formats);
    if ('check' in result) return undefined;
    const report = { code: result.code, message: result.message };
    if (!reported) {
      reported = true;
      onReport?.(report);
    }
    return report;
  };

  const check = (data: unknown): { value: unknown } | { issues: JsonSchemaIssue[] } => {
    let text = stringify(data);
    if (typeof text !== 'string') return { issues: [text] };
    let value = data;
    if (mayHoldPrototypeKeys(text)) {
      value = defusePrototypeKeys(data, policy);
      text = value === data ? text : stringify(value);
      if (typeof text !== 'string') return { issues: [text] };
    }
    const unusable = problem();
    if (unusable !== undefined) {
      if (onUnusable !== 'refuse') return { value };
      const message = `cannot be checked, the tool's schema is unusable: ${unusable.message}`;
      return { issues: [{ code: 'schema', path: [], message }] };
    }
    const issues = (compile(raw, formats) as Native.JsonSchemaValidator).check(text);
    return issues === null ? { value } : { issues };
  };

  const safeParse = (data: unknown): ZodLikeSafeParseResult<T> => {
    const result = check(data);
    return 'issues' in result
      ? { success: false, error: new JsonSchemaValidationError(result.issues) }
      : { success: true, data: result.value as T };
  };

  return {
    parse: (data) => {
      const result = safeParse(data);
      if (!result.success) throw result.error;
      return result.data;
    },
    safeParse,
    toJSON: () => raw,
    problem,
    '~standard': {
      version: 1,
      vendor: 'ferrule',
      validate: (data) => {
        const result = check(data);
        return 'issues' in result
          ? { issues: result.issues.map(({ message, path }) => ({ message, path })) }
          : { value: result.value as T };
      },
    },
  };
}

/**
 * The schema to list for a tool's input: always an object schema with `properties`, which strict
 * clients insist on. A tool without a schema, or with `{}`, gets `{type:'object', properties:{}}`; an
 * object schema is returned by reference; one without a `type` (a union at the root) gets
 * `type: 'object'`; one of another type is returned as it is, for the client to refuse.
 *
 * @param projected what `projectSchemaToJsonSchema` gave for the input schema.
 */
export function toolInputJsonSchema(projected: JsonSchemaRecord | undefined): JsonSchemaRecord {
  if (projected === undefined || Object.keys(projected).length === 0) return { type: 'object', properties: {} };
  if (projected['type'] === 'object') {
    return isRecord(projected['properties']) ? projected : { ...projected, properties: {} };
  }
  return 'type' in projected ? projected : { type: 'object', ...projected };
}
