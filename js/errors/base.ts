/** Extra fields of a {@link GraphorinToolsError}. */
export interface GraphorinToolsErrorOptions {
  /** What the reader can do about it. */
  readonly hint?: string | undefined;
  /** What led to it; kept by identity. */
  readonly cause?: unknown;
}

/**
 * The symbol an error class puts on its prototype. Registered, so that classes of two copies of this
 * package recognise each other's instances.
 *
 * @internal
 */
export const brandOf = (name: string): symbol => Symbol.for(`ferrule.error.${name}`);

/** Marks a class; the mark is not enumerable. @internal */
export function brand(errorClass: { readonly prototype: object }, name: string): void {
  Object.defineProperty(errorClass.prototype, brandOf(name), { value: true });
}

/** Whether a value carries the mark of a class or of one below it. @internal */
export function hasBrand(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && brandOf(name) in value;
}

/**
 * The base of every error the tool layer throws. `kind` is a stable machine-readable word, `hint`
 * a sentence for people, `cause` whatever led here; the latter two are `undefined` when not given.
 *
 * @example
 * try {
 *   registry.register(tool);
 * } catch (error) {
 *   if (error instanceof GraphorinToolsError) log(error.kind, error.hint);
 * }
 */
export class GraphorinToolsError extends Error {
  /** What went wrong, for programs; stable. */
  readonly kind: string;
  /** What the reader can do about it. */
  readonly hint: string | undefined;
  /** What led to it. */
  override readonly cause: unknown;
  /** Name of the class. */
  override readonly name: string = 'GraphorinToolsError';

  constructor(kind: string, message: string, opts: GraphorinToolsErrorOptions = {}) {
    super(message);
    this.kind = kind;
    this.hint = opts.hint;
    this.cause = opts.cause;
  }

  /** Like `instanceof`, but true for instances of another copy of this package as well. */
  static isInstance(value: unknown): value is GraphorinToolsError {
    return hasBrand(value, 'GraphorinToolsError');
  }
}
brand(GraphorinToolsError, 'GraphorinToolsError');
