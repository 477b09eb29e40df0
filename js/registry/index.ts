/**
 * Holding tools by name: defaults by source, collisions, and the search over deferred tools.
 *
 * @packageDocumentation
 */
export type { ToolAuditEvent } from '../audit/index.js';
export { defineBm25Index, tokenise } from './bm25.js';
export type { Bm25Document, Bm25Match, Bm25Options } from './bm25.js';
export { DEFAULT_MAX_RESULT_TOKENS, normaliseTool } from './normalise.js';
export { createToolRegistry } from './registry.js';
export type {
  CollisionContext,
  CollisionResolution,
  CollisionStrategy,
  NormaliseOutcome,
  NormaliseToolOptions,
  NormaliseWarning,
  RegistryDrift,
  RegistryEntry,
  ToolRegistry,
  ToolRegistryOptions,
  ToolSearchEmbedder,
  ToolSearchMatch,
} from './types.js';
