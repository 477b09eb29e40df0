import type { ZodLikeIssue, ZodLikeSafeParseResult, ZodLikeSchema } from '../core/index.js';

/** One field: its JSON Schema, and a check that says what is wrong or nothing. @internal */
export interface Field {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly optional?: boolean;
  check(value: unknown): string | undefined;
}

/** What is wrong with a value. Shaped like the errors of the usual schema libraries. */
class SchemaError extends Error {
  override readonly name = 'SchemaError';
  readonly issues: ReadonlyArray<ZodLikeIssue>;

  constructor(issues: ReadonlyArray<ZodLikeIssue>) {
    super(issues.map((issue) => `${issue.path.map(String).join('.') || '.'}: ${issue.message}`).join('; '));
    this.issues = issues;
  }
}

/** A string of so many UTF-16 units. @internal */
export function text(description: string, min = 0, max = Number.POSITIVE_INFINITY): Field {
  return {
    schema: {
      type: 'string',
      ...(min > 0 ? { minLength: min } : {}),
      ...(max < Number.POSITIVE_INFINITY ? { maxLength: max } : {}),
      description,
    },
    check: (value) => {
      if (typeof value !== 'string') return 'expected a string';
      if (value.length < min) return `expected at least ${min} character(s)`;
      return value.length > max ? `expected at most ${max} characters` : undefined;
    },
  };
}

/** A whole number within bounds. @internal */
export function whole(description: string, min: number, max = Number.MAX_SAFE_INTEGER): Field {
  return {
    schema: { type: 'integer', minimum: min, maximum: max, description },
    check: (value) => {
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) return 'expected a whole number';
      if (value < min) return `expected at least ${min}`;
      return value > max ? `expected at most ${max}` : undefined;
    },
  };
}

/** Any value of a `typeof` type. @internal */
export function primitive(type: 'number' | 'boolean' | 'string'): Field {
  return {
    schema: { type },
    check: (value) => (typeof value === type ? undefined : `expected a ${type}`),
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

/** The field, or nothing. @internal */
export function optional(field: Field): Field {
  return { ...field, optional: true };
}

/**
 * An object schema that needs no schema library, so that importing the built-in tools costs nothing.
 * Unknown keys are dropped. Its JSON Schema is what `toJSON` returns.
 *
 * @internal
 */
export function plainObject<T>(fields: Readonly<Record<string, Field>>): ZodLikeSchema<T> {
  const safeParse = (data: unknown): ZodLikeSafeParseResult<T> => {
    if (typeof data !== 'object' || data === null || Array.isArray(data)) {
      return { success: false, error: new SchemaError([{ path: [], message: 'expected an object' }]) };
    }
    const kept: Record<string, unknown> = {};
    const issues: ZodLikeIssue[] = [];
    for (const [key, field] of Object.entries(fields)) {
      const value = (data as Record<string, unknown>)[key];
      if (value === undefined && field.optional === true) continue;
      const message = field.check(value);
      if (message === undefined) kept[key] = value;
      else issues.push({ path: [key], message });
    }
    if (issues.length > 0) return { success: false, error: new SchemaError(issues) };
    return { success: true, data: kept as T };
  };
  const schema = {
    parse: (data: unknown): T => {
      const result = safeParse(data);
      if (result.success) return result.data;
      throw result.error;
    },
    safeParse,
    toJSON: () => ({
      type: 'object',
      properties: Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field.schema])),
      required: Object.keys(fields).filter((key) => fields[key]?.optional !== true),
      additionalProperties: false,
    }),
  };
  return schema;
}
