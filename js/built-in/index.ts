/**
 * Tools that ship with the package.
 *
 * @packageDocumentation
 */
export { createToolSearchTool } from './tool-search.js';
export type {
  ToolSearchInput,
  ToolSearchOutput,
  ToolSearchToolMatch,
  ToolSearchToolOptions,
} from './tool-search.js';
