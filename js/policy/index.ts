/**
 * `ferrule/policy`: which calls may run, by tool name and arguments.
 *
 * @packageDocumentation
 */
export {
  evaluatePermissionDecision,
  evaluateToolArgumentPolicy,
  explainPermissionDecision,
  isToolDeniedByName,
} from './evaluate.js';
export { buildRuleOfTwoPolicy } from './rule-of-two.js';
export type * from './types.js';
