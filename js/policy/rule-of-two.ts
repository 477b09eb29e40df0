/**
 * The rule of two: an agent should not have untrusted input, sensitive data and external side effects
 * all at once.
 *
 * @packageDocumentation
 */
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
  const rules: ToolArgumentRule[] = [];
  if (!externalSideEffects) {
    rules.push({
      effect: 'forbid',
      tool: '*',
      when: (facts) => facts.sideEffectClass === 'side-effecting' || facts.sideEffectClass === 'external-stateful',
      reason: 'the rule-of-two profile holds no external side effects: only reading tools may run',
    });
  }
  if (!untrustedInput) {
    rules.push({
      effect: 'forbid',
      tool: '*',
      when: (facts) => facts.untrustedSource === true,
      reason: 'the rule-of-two profile holds no untrusted input: tools that bring it in may not run',
    });
  }
  const legs: readonly [TrifectaLeg, boolean][] = [
    ['untrusted-input', untrustedInput],
    ['sensitive-data', sensitiveData],
    ['external-side-effects', externalSideEffects],
  ];
  const heldLegs = legs.filter(([, held]) => held).map(([leg]) => leg);
  return {
    policy: { rules, defaultDenySensitive: !sensitiveData },
    ...(!externalSideEffects && { capability: 'read-only' as const }),
    heldLegs,
    holdsFullTrifecta: heldLegs.length === legs.length,
  };
}
