/**
 * The rule of two: an agent should not have untrusted input, sensitive data and external side effects
 * all at once.
 *
 * @packageDocumentation
 */
import { native } from '../binding.js';
import type { RuleOfTwoCompilation, RuleOfTwoProfile, ToolArgumentRule, TrifectaLeg } from './types.js';

/**
 * A profile as a policy that takes away what the profile does not have. Its rules are ordinary ones:
 * spread them into a larger policy, and a denial of the profile beats an allow that follows.
 *
 * @example
 * const { policy, capability } = buildRuleOfTwoPolicy({
 *   untrustedInput: true,
 *   sensitiveData: true,
 *   externalSideEffects: false,
 * });
 */
export function buildRuleOfTwoPolicy(profile: RuleOfTwoProfile): RuleOfTwoCompilation {
  const { untrustedInput, sensitiveData, externalSideEffects } = profile;
  const engine = native();
  const two = engine.ruleOfTwo(Boolean(untrustedInput), Boolean(sensitiveData), Boolean(externalSideEffects));
  const rules = two.restrictions.map(
    (restriction, at): ToolArgumentRule => ({
      effect: 'forbid',
      tool: '*',
      when: (facts) =>
        engine.ruleOfTwoForbids(restriction, String(facts.sideEffectClass), facts.untrustedSource === true),
      reason: two.reasons[at]!,
    }),
  );
  return {
    policy: { rules, defaultDenySensitive: two.deniesSensitive },
    ...(two.readOnly && { capability: 'read-only' as const }),
    heldLegs: two.held as TrifectaLeg[],
    holdsFullTrifecta: two.fullTrifecta,
  };
}
