/**
 * Ferrule: everything most apps need, from one entry. The subpaths `./code-mode`, `./outbound`,
 * `./core` and the security rooms are reached by their own names only.
 *
 * @packageDocumentation
 */
export * from './audit/index.js';
export * from './builder/index.js';
export * from './built-in/index.js';
export * from './errors/index.js';
export * from './executor/index.js';
export * from './inbound/index.js';
export * from './registry/index.js';
export * from './result/index.js';
export * from './schema/index.js';
export * from './streaming/index.js';
export { VERSION } from './version.js';
