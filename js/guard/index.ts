/**
 * `ferrule/guard`: watches memory around a call, as closely as the tool's tier asks for.
 *
 * @packageDocumentation
 */
export {
  _getMemoryGuardAuditListenerCountForTesting,
  _resetMemoryGuardAuditListenersForTesting,
  emitMemoryGuardAudit,
  onMemoryGuardAudit,
} from './audit.js';
export { DEFAULT_MEMORY_TAG_PATTERNS, classifyTool, guardVariantForTier } from './classify.js';
export {
  MemoryGuardBudgetExceededError,
  createApiBoundaryGuard,
  createAuditOnlyGuard,
  createGuard,
  createNoGuard,
  createStrictFullGuard,
} from './guards.js';
export { hashRegion, xxhash32 } from './hash.js';
export type * from './types.js';
