/**
 * What becomes of a tool's return value: its envelope and text form, bounding it to the model's
 * budget, spilling what is too long, and reading it back.
 *
 * @packageDocumentation
 */
export { type ResultEnvelope, splitTextAndContentParts, toResultEnvelope } from './envelope.js';
export {
  type FileResultReaderOptions,
  type ResultReadOutcome,
  type ResultReadRange,
  type ResultReader,
  createFileResultReader,
} from './reader.js';
export {
  SPILL_HANDLE_SCHEME,
  type SpillWriteRequest,
  type SpillWriter,
  sidecarPathFor,
} from './spill-types.js';
export { type DefaultSpillWriterOptions, createDefaultSpillWriter } from './spill-writer.js';
export { type TokenCounter, countTokensHeuristic } from './tokens.js';
export {
  type ResultSummarizer,
  type TruncateArgs,
  type TruncateOptions,
  type TruncationOutcome,
  truncateBody,
} from './truncate.js';
