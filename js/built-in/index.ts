/**
 * `ferrule/built-in`: the tools that come with the package.
 *
 * @packageDocumentation
 */
export { createReadResultTool } from './read-result.js';
export type { ReadResultInput, ReadResultOutput, ReadResultToolOptions } from './read-result.js';
export { createToolSearchTool } from './tool-search.js';
export type {
  ToolSearchInput,
  ToolSearchOutput,
  ToolSearchToolMatch,
  ToolSearchToolOptions,
} from './tool-search.js';
