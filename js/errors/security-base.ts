/**
 * The base class of every error of the secrets and sandbox rooms. It lives apart from both, so that
 * each subpath hands out the same class object and `instanceof` works across them.
 *
 * @packageDocumentation
 */

/** What an error of the security rooms may carry besides kind and message. */
export interface GraphorinSecretsErrorOptions {
  /** What led to this error; any value. */
  readonly cause?: unknown;
  /** What the reader can do about it. */
  readonly hint?: string;
}

/**
 * Base of the errors of `ferrule/secrets` and `ferrule/sandbox`.
 *
 * `name` is the name of the concrete class. `hint` and `cause` are own properties only when given.
 *
 * @example
 * try { enforceSecretAcl('API_KEY'); } catch (error) {
 *   if (error instanceof GraphorinSecretsError) console.error(error.kind, error.hint);
 * }
 */
export class GraphorinSecretsError extends Error {
  /** Machine-readable reason, for example `secret-access-denied`. */
  readonly kind: string;
  /** What the reader can do about it; absent when there is nothing to say. */
  declare readonly hint?: string;

  constructor(kind: string, message: string, options: GraphorinSecretsErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = new.target.name;
    this.kind = kind;
    if (options.hint !== undefined) this.hint = options.hint;
  }
}
