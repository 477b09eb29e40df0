/**
 * Declaring tools, and the defaults that follow from where a tool came from. Needs neither the addon
 * nor zod at run time.
 *
 * @packageDocumentation
 */
export { defaultInboundSanitization, defaultTruncationStrategy, resolveTrustClass } from './defaults.js';
export { tool } from './tool.js';
export type { AnySchemaToolSpec, ToolSchema, ToolSpec } from './tool.js';
