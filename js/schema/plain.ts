/**
 * Small schemas that need no schema library, for the package's own tools: importing these tools must
 * not load a library that the app may not use, and the tools must work with whichever it does use.
 * Each is an ordinary `parse`/`safeParse` schema whose JSON Schema is what `toJSON` returns.
 *
 * @internal
 */
import type { ZodLikeIssue, ZodLikeSafeParseResult, ZodLikeSchema } from '../core/index.js';

/** One value: its JSON Schema, and a check that says what is wrong or nothing. @internal */
export interface Field {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly optional?: boolean;
  check(value: unknown): string | undefined;
}

type Fields = Readonly<Record<string, Field>>;

/** What is wrong with a value. Shaped like the errors of the usual schema libraries. */
class SchemaError extends Error {
  override readonly name = 'SchemaError';
  readonly issues: ReadonlyArray<ZodLikeIssue>;

  constructor(issues: ReadonlyArray<ZodLikeIssue>) {
    super(issues.map((issue) => `${issue.path.map(String).join('.') || '.'}: ${issue.message}`).join('; '));
    this.issues = issues;
  }
}

const described = (description: string | undefined): object => (description === undefined ? {} : { description });

/** A string of so many UTF-16 units. @internal */
export function text(description?: string, min = 0, max = Number.POSITIVE_INFINITY): Field {
  return {
    schema: {
      type: 'string',
      ...(min > 0 ? { minLength: min } : {}),
      ...(max < Number.POSITIVE_INFINITY ? { maxLength: max } : {}),
      ...described(description),
    },
    check: (value) => {
      if (typeof value !== 'string') return 'expected a string';
      if (value.length < min) return `expected at least ${min} character(s)`;
      return value.length > max ? `expected at most ${max} characters` : undefined;
    },
  };
}

/** A whole number within bounds. @internal */
export function whole(description: string | undefined, min: number, max = Number.MAX_SAFE_INTEGER): Field {
  return {
    schema: {
      type: 'integer',
      minimum: min,
      ...(max < Number.MAX_SAFE_INTEGER ? { maximum: max } : {}),
      ...described(description),
    },
    check: (value) => {
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) return 'expected a whole number';
      if (value < min) return `expected at least ${min}`;
      return value > max ? `expected at most ${max}` : undefined;
    },
  };
}

/** A whole number from 1, with the lower bound told as "more than 0". @internal */
export function positive(max: number): Field {
  return { schema: { type: 'integer', exclusiveMinimum: 0, maximum: max }, check: whole(undefined, 1, max).check };
}

/** Any value of a `typeof` type. @internal */
export function primitive(type: 'number' | 'boolean' | 'string'): Field {
  return {
    schema: { type },
    check: (value) => (typeof value === type ? undefined : `expected a ${type}`),
  };
}

/** One of some strings. @internal */
export function oneOf(...values: readonly string[]): Field {
  return {
    schema: { type: 'string', enum: values },
    check: (value) => (values.includes(value as string) ? undefined : `expected one of ${values.join(', ')}`),
  };
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object with any keys and values. @internal */
export function anyObject(): Field {
  return {
    schema: { type: 'object', additionalProperties: {} },
    check: (value) => (isPlain(value) ? undefined : 'expected an object'),
  };
}

/** An object that names its kind; further keys are kept. @internal */
export function kinded(): Field {
  return {
    schema: {
      type: 'object',
      properties: { kind: { type: 'string' } },
      required: ['kind'],
      additionalProperties: true,
    },
    check: (value) => {
      const kind = (value as { kind?: unknown } | null | undefined)?.kind;
      return typeof kind === 'string' ? undefined : 'expected an object with a kind';
    },
  };
}

/** A list of objects that have at least these keys. @internal */
export function listOf(fields: Fields): Field {
  return {
    schema: { type: 'array', items: objectSchema(fields) },
    check: (value) => {
      if (!Array.isArray(value)) return 'expected an array';
      for (const [at, item] of value.entries()) {
        const [issue] = isPlain(item) ? issuesOf(fields, item) : [{ path: [], message: 'expected an object' }];
        if (issue !== undefined) return `item ${[at, ...issue.path].map(String).join('.')}: ${issue.message}`;
      }
      return undefined;
    },
  };
}

/** The field, or nothing. @internal */
export function optional(field: Field): Field {
  return { ...field, optional: true };
}

function objectSchema(fields: Fields): Record<string, unknown> {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field.schema])),
    required: Object.keys(fields).filter((key) => fields[key]?.optional !== true),
  };
}

const isAbsent = (field: Field, value: unknown): boolean => value === undefined && field.optional === true;

function issuesOf(fields: Fields, data: Readonly<Record<string, unknown>>): ZodLikeIssue[] {
  const issues: ZodLikeIssue[] = [];
  for (const [key, field] of Object.entries(fields)) {
    const message = isAbsent(field, data[key]) ? undefined : field.check(data[key]);
    if (message !== undefined) issues.push({ path: [key], message });
  }
  return issues;
}

function schemaOf<T>(toJSON: () => object, safeParse: (data: unknown) => ZodLikeSafeParseResult<T>): ZodLikeSchema<T> {
  const schema = {
    parse: (data: unknown): T => {
      const result = safeParse(data);
      if (result.success) return result.data;
      throw result.error;
    },
    safeParse,
    toJSON,
  };
  return schema;
}

/** An object schema; unknown keys are dropped, as those of the usual libraries drop them. @internal */
export function plainObject<T>(fields: Fields): ZodLikeSchema<T> {
  return schemaOf<T>(
    () => objectSchema(fields),
    (data) => {
      if (!isPlain(data)) return { success: false, error: new SchemaError([{ path: [], message: 'expected an object' }]) };
      const issues = issuesOf(fields, data);
      if (issues.length > 0) return { success: false, error: new SchemaError(issues) };
      const kept = Object.entries(fields).filter(([key, field]) => !isAbsent(field, data[key]));
      return { success: true, data: Object.fromEntries(kept.map(([key]) => [key, data[key]])) as T };
    },
  );
}

/** A schema of one value. @internal */
export function plainValue<T>(field: Field): ZodLikeSchema<T> {
  return schemaOf<T>(
    () => ({ ...field.schema }),
    (data) => {
      const message = field.check(data);
      if (message !== undefined) return { success: false, error: new SchemaError([{ path: [], message }]) };
      return { success: true, data: data as T };
    },
  );
}
