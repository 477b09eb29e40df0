/**
 * The tools that come with the package.
 *
 * @packageDocumentation
 */
export {
  type ReadResultInput,
  type ReadResultOutput,
  type ReadResultToolOptions,
  createReadResultTool,
} from './read-result.js';
