/**
 * Sandbox tiers and code mode's runner.
 *
 * @packageDocumentation
 */
export { runBridgedSource } from './bridged/index.js';
export type { BridgedErrorKind, BridgedSourceOptions, BridgedSourceResult, BridgedToolCall, CodeModeRunner } from './bridged/index.js';
