/**
 * Which tier a tool belongs to, and which guard a tier gets.
 *
 * @packageDocumentation
 */
import { native } from '../binding.js';
import type { ClassifiableTool, MemoryGuardTier, MemoryGuardVariant } from './types.js';

/** Names, tags and secret keys that speak of memory. Frozen; each matches a whole string. */
export const DEFAULT_MEMORY_TAG_PATTERNS: readonly RegExp[] = Object.freeze([
  /^memory$/i,
  /^memory[:.\-_].*$/is,
  /^remember$/i,
  /^recall$/i,
  /^facts?$/i,
]);

/** The kind of guard a tier gets. Throws an `Error` that names an unknown tier. */
export function guardVariantForTier(tier: MemoryGuardTier): MemoryGuardVariant {
  const variant = native().memoryGuardVariant(String(tier));
  if (variant === undefined || variant === null) throw new Error(`Unknown memory guard tier '${String(tier)}'.`);
  return variant as MemoryGuardVariant;
}

/**
 * The tier of a tool: the one it declares; else `untrusted` by its trust level; else `memory-aware`
 * when a tag, a secret key or the name speaks of memory; else `unknown`.
 *
 * @param patterns what speaks of memory. Default {@link DEFAULT_MEMORY_TAG_PATTERNS}.
 */
export function classifyTool(
  tool: ClassifiableTool,
  patterns: readonly RegExp[] = DEFAULT_MEMORY_TAG_PATTERNS,
): MemoryGuardTier {
  if (tool.memoryGuardTier !== undefined) return tool.memoryGuardTier;
  if (tool.trustLevel === 'untrusted') return 'untrusted';
  // Used by `map` and the like, which pass an index here.
  const list = Array.isArray(patterns) ? (patterns as readonly RegExp[]) : DEFAULT_MEMORY_TAG_PATTERNS;
  const speaksOfMemory = (text: string): boolean =>
    list.some((pattern) => {
      // A global or sticky expression would remember where it stopped.
      pattern.lastIndex = 0;
      return pattern.test(text);
    });
  const words = [...(tool.tags ?? []), ...(tool.secretsAllowed ?? []), ...(tool.name === undefined ? [] : [tool.name])];
  return words.some(speaksOfMemory) ? 'memory-aware' : 'unknown';
}
