import type { SandboxCode } from '../core/index.js';
import { messageOf, nameOf, sandboxImpl, startRun, type SandboxImpl } from './types.js';

/** A handler that runs in process. It gets the input as it is, and the run's signal when there is one. */
export type NoneSandboxHandler<I = unknown, O = unknown> = (
  input: I,
  signal: AbortSignal | undefined,
) => O | Promise<O>;

/** Options of {@link createNoneSandbox}. */
export interface NoneSandboxOptions {
  /** Finds the handler that a code reference names, or answers undefined. */
  resolveHandler(
    code: Extract<SandboxCode, { readonly kind: 'handler' }>,
  ): NoneSandboxHandler<never, unknown> | undefined;
}

/**
 * The tier without isolation: a registered handler is called in place. No time limit, no memory
 * limit, no environment of its own. Code given as source or as a file is refused.
 *
 * @example
 * ```ts
 * const sandbox = createNoneSandbox({ resolveHandler: (code) => handlers.get(code.module) });
 * await sandbox.run({ kind: 'handler', module: 'sum', export: 'execute' }, { input: [1, 2] });
 * ```
 */
export function createNoneSandbox(options: NoneSandboxOptions): SandboxImpl {
  return sandboxImpl('none', async (code, opts) => {
    const result = startRun();
    if (code.kind !== 'handler') {
      return result.fail(
        'sandbox-violation',
        `sandbox 'none' only accepts pre-registered handlers; it refuses code of kind '${String(code.kind)}'`,
      );
    }
    try {
      const handler = options.resolveHandler(code);
      if (handler === undefined) {
        return result.fail('sandbox-violation', `no registered handler for ${code.module}#${code.export}`);
      }
      if (opts.signal?.aborted) return result.fail('aborted', 'the run was aborted before it started');
      return result.ok(await handler(opts.input as never, opts.signal));
    } catch (thrown) {
      const aborted = nameOf(thrown) === 'AbortError' || opts.signal?.aborted === true;
      return result.fail(aborted ? 'aborted' : 'execution-failed', messageOf(thrown), { cause: thrown });
    }
  });
}
