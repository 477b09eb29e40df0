import type { Sensitivity } from './types.js';

/** The model tiers, cheapest first. */
export const MODEL_HINTS: readonly ['fast', 'balanced', 'smart'] = ['fast', 'balanced', 'smart'];

/** Sensitivities, least confidential first. */
export const SENSITIVITY_ORDER: readonly Sensitivity[] = ['public', 'internal', 'secret'];

/**
 * Whether a party that accepts the listed tiers may see a record. A membership test only: accepting
 * `secret` alone does not accept `public`.
 *
 * @example acceptsSensitivity(['public', 'internal'], 'secret'); // false
 */
export function acceptsSensitivity(accepts: readonly Sensitivity[], record: Sensitivity): boolean {
  return accepts.includes(record);
}
