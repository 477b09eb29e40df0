/**
 * The contracts an app needs beside the tool layer: types, and the few that are values. Objects of
 * another package with the same shape work too; nothing is recognised by identity with a copy here.
 *
 * @packageDocumentation
 */
export * from './message.js';
export * from './run.js';
export * from './secret.js';
export * from './tool-return.js';
export * from './tracing.js';
export * from './types.js';
export * from './validate.js';
export * from './values.js';
