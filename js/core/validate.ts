import type { ZodLikeError, ZodLikeSchema } from './types.js';

/** The result of {@link validate}. */
export type ValidationResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ZodLikeError };

/** One `safeParse`, as a result that narrows on `ok`. Exceptions of the schema's own code pass through. */
export function validate<T>(schema: ZodLikeSchema<T>, data: unknown): ValidationResult<T> {
  const parsed = schema.safeParse(data);
  return parsed.success ? { ok: true, value: parsed.data } : { ok: false, error: parsed.error };
}

/**
 * Like {@link validate}, but throws a `TypeError` that lists every issue with its path.
 *
 * @param what names the value in the message.
 */
export function validateOrThrow<T>(schema: ZodLikeSchema<T>, data: unknown, what?: string): T {
  const result = validate(schema, data);
  if (result.ok) return result.value;
  const issues = result.error.issues.map((issue) => {
    const path = issue.path.length === 0 ? '.' : issue.path.map(String).join('.');
    return `${path}: ${issue.message}`;
  });
  throw new TypeError(`graphorin: validation failed${what ? ` for ${what}` : ''}: ${issues.join('; ')}`);
}
