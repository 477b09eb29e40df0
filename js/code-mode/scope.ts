import { outsideToolScope } from '../secrets/context.js';

/** The name of the tool that runs scripts. @internal */
export const CODE_EXECUTE = 'code_execute';

/**
 * Runs a bridged call outside of the secrets scope that belongs to `code_execute` itself, so that the
 * called tool gets the secrets of a direct call: the meta tool may read none, and scopes narrow what
 * is inside of them. Everything else of the caller's async context stays in force.
 *
 * @internal
 */
export function outsideMetaToolScope<T>(run: () => T): T {
  return outsideToolScope(run, CODE_EXECUTE);
}
