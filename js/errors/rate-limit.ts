import { brand, GraphorinToolsError, hasBrand } from './base.js';

/**
 * Thrown by a tool whose service asked for a pause; the executor reports it as `rate_limited` and
 * its retries honour the pause. Exported by `ferrule/executor`. `kind`: `rate-limited`.
 *
 * @example throw new ToolRateLimitError('quota used up', { retryAfterMs: 30_000 });
 */
export class ToolRateLimitError extends GraphorinToolsError {
  /** Name of the class. */
  override readonly name: string = 'ToolRateLimitError';
  /** How long to wait, in milliseconds; `undefined` when the service did not say. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { readonly retryAfterMs?: number | undefined } = {}) {
    super('rate-limited', message);
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Like `instanceof`, but true for instances of another copy of this package as well. */
  static override isInstance(value: unknown): value is ToolRateLimitError {
    return hasBrand(value, 'ToolRateLimitError');
  }
}
brand(ToolRateLimitError, 'ToolRateLimitError');
