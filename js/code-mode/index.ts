/**
 * Code mode: tools as a typed code API, and the two tools that let a model use it.
 *
 * {@link projectToolApi} renders the catalogue and the signatures, {@link createCodeSearchTool} lets
 * the model look them up, {@link createCodeExecuteTool} runs what it writes.
 *
 * @packageDocumentation
 */
export { createCodeExecuteTool } from './execute-tool.js';
export { projectToolApi } from './projection.js';
export { createCodeSearchTool } from './search-tool.js';
export type {
  CodeApiProjection,
  CodeExecuteBridge,
  CodeExecuteInput,
  CodeExecuteLimits,
  CodeExecuteToolOptions,
  CodeSearchInput,
  CodeSearchMatch,
  CodeSearchToolOptions,
  ProjectableTool,
} from './types.js';
