/**
 * The errors of declaring, registering and resolving tools. One class object per name in the whole
 * package, whichever subpath it is taken from.
 *
 * @packageDocumentation
 */
export { GraphorinToolsError } from './base.js';
export type { GraphorinToolsErrorOptions } from './base.js';
export { ToolExecutionAggregateError } from './execution.js';
export type { ToolExecutionFailure } from './execution.js';
export {
  DuplicateToolNameError,
  InvalidExampleError,
  InvalidPreferredModelError,
  InvalidSideEffectClassError,
  ToolCollisionError,
} from './registration.js';
