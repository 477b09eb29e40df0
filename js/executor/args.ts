/**
 * Validation of what a model sends, with the user's own schema.
 *
 * @internal
 */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ZodLikeError, ZodLikeSchema } from '../core/index.js';

/** What a parse came to. */
export type Parsed =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly error: { readonly message: string } };

interface AsyncSchema extends ZodLikeSchema {
  safeParseAsync?(data: unknown): Promise<Parsed>;
}

/** zod refuses to run async checks in `safeParse`; its own async method then has to be used. */
function needsAsync(schema: AsyncSchema, error: unknown): boolean {
  if (typeof schema.safeParseAsync !== 'function' || !(error instanceof Error)) return false;
  return error.constructor.name === '$ZodAsyncError' || /parseAsync|async (refine|transform)/i.test(error.message);
}

function pathOf(issue: StandardSchemaV1.Issue): string {
  const keys = (issue.path ?? []).map((key) => (typeof key === 'object' ? key.key : key));
  return keys.map(String).join('.');
}

function standardError(issues: ReadonlyArray<StandardSchemaV1.Issue>): ZodLikeError {
  const message = issues
    .map((issue) => {
      const path = pathOf(issue);
      return path === '' ? issue.message : `${path}: ${issue.message}`;
    })
    .join('; ');
  return {
    name: 'ValidationError',
    message,
    issues: issues.map((issue) => ({
      path: (issue.path ?? []).map((key) => (typeof key === 'object' ? key.key : key)),
      message: issue.message,
    })),
  };
}

function fromStandard(result: StandardSchemaV1.Result<unknown>): Parsed {
  return result.issues
    ? { success: false, error: standardError(result.issues) }
    : { success: true, data: result.value };
}

/**
 * Parses with `safeParse`, or with Standard Schema's `validate` where there is none. A promise comes
 * back only from schemas that are asynchronous. What the schema's own code throws passes through.
 */
export function parseWith(schema: unknown, data: unknown): Parsed | Promise<Parsed> {
  const zodLike = schema as AsyncSchema;
  if (typeof zodLike.safeParse === 'function') {
    try {
      return zodLike.safeParse(data);
    } catch (error) {
      if (!needsAsync(zodLike, error)) throw error;
      return zodLike.safeParseAsync!(data);
    }
  }
  const standard = (schema as Partial<StandardSchemaV1>)['~standard'];
  if (standard) {
    const result = standard.validate(data);
    return result instanceof Promise ? result.then(fromStandard) : fromStandard(result);
  }
  // Let the engine say what is missing, as a schema without `safeParse` always did.
  return zodLike.safeParse(data);
}

/** What stands for "no arguments" in the wild. */
function meansNothing(args: unknown): boolean {
  return args === null || args === undefined || (typeof args === 'string' && /^\s*(null)?\s*$/.test(args));
}

/**
 * What else raw arguments may mean when the schema refuses them as they are: nothing at all, or the
 * JSON text of an object. A text that is not complete JSON means nothing else; nothing is guessed.
 *
 * @returns undefined when there is no other reading.
 */
export function otherReading(args: unknown): { readonly value: unknown } | undefined {
  if (meansNothing(args)) return { value: {} };
  if (typeof args !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(args);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { value } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether raw arguments are text that does not even parse as JSON. */
export function isBrokenJson(args: unknown): boolean {
  if (typeof args !== 'string' || meansNothing(args)) return false;
  try {
    JSON.parse(args);
    return false;
  } catch {
    return /^\s*[[{]/.test(args);
  }
}
