/** Optional parts of a {@link GraphorinSecretsError}. */
export interface GraphorinSecretsErrorOptions {
  /** What caused it; set on the error only when given. */
  readonly cause?: unknown;
  /** What the operator can do about it; set on the error only when given. */
  readonly hint?: string;
}

/**
 * The base of the errors of `./secrets` and `./sandbox`. There is one class object for both
 * subpaths, so that `instanceof` works whichever of them it was imported from.
 *
 * `name` is the name of the concrete class; `hint` and `cause` are own properties only when given.
 */
export class GraphorinSecretsError extends Error {
  /** A stable identifier of the kind of error, in kebab case. */
  readonly kind: string;
  /** What the operator can do about it. Absent when there is nothing to say. */
  declare readonly hint?: string;

  constructor(kind: string, message: string, options: GraphorinSecretsErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = new.target.name;
    this.kind = kind;
    if (options.hint !== undefined) this.hint = options.hint;
  }
}
