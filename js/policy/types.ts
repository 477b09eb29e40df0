/**
 * Types of the argument policy.
 *
 * @packageDocumentation
 */
import type { SideEffectClass } from '../core/index.js';

/** What running a tool does to the world. */
export type PolicySideEffectClass = SideEffectClass;

/** What a rule wants. `forbid` is another word for `deny`. */
export type ToolRuleEffect = 'allow' | 'deny' | 'ask' | 'defer' | 'forbid';
/** What a decision says. */
export type PermissionEffect = 'allow' | 'deny' | 'ask' | 'defer';

/** What is known about a call. Predicates get this very object. */
export interface ToolCallFacts {
  /** Name of the tool. */
  readonly toolName: string;
  /** What a call may change. */
  readonly sideEffectClass: PolicySideEffectClass;
  /** The tool handles secret data. */
  readonly sensitive?: boolean;
  /** The tool brings in untrusted text. */
  readonly untrustedSource?: boolean;
  /** The validated arguments. */
  readonly args?: unknown;
}

/** One rule. */
export interface ToolArgumentRule {
  /** What follows when it applies. */
  readonly effect: ToolRuleEffect;
  /** `*` for all, `prefix*`, or an exact name. Case-sensitive. */
  readonly tool: string;
  /**
   * Whether the rule applies; absent: always. Has to answer with a boolean, at once: a throw or a
   * promise denies the call.
   */
  when?(facts: ToolCallFacts): boolean;
  /** Why, for whoever reads the decision. Absent: a general reason. */
  readonly reason?: string;
}

/** A list of rules. */
export interface ToolArgumentPolicy {
  /** The rules. */
  readonly rules: readonly ToolArgumentRule[];
  /** Denies sensitive tools that no rule speaks of. Default false. */
  readonly defaultDenySensitive?: boolean;
}

/** The decision about a call. */
export type PermissionDecision =
  | { readonly effect: 'allow' }
  | { readonly effect: 'deny' | 'ask' | 'defer'; readonly reason: string };
/** The decision, as yes or no. */
export type ToolPolicyDecision = { readonly effect: 'allow' } | { readonly effect: 'forbid'; readonly reason: string };
/** Whether a tool may be offered at all. */
export type NameDenialDecision = { readonly denied: false } | { readonly denied: true; readonly reason: string };

/** A decision and what led to it. */
export interface PermissionExplanation {
  /** What was decided. */
  readonly decision: PermissionDecision;
  /** The rule that decided, by identity; absent when none did. */
  readonly rule?: ToolArgumentRule;
  /** Its place in the list. */
  readonly ruleIndex?: number;
  /**
   * What decided: a rule, the default for sensitive tools, or that nothing spoke against it; or a
   * rule that could not be judged, which denies.
   */
  readonly cause: 'rule' | 'default-deny' | 'no-match' | 'predicate-threw' | 'predicate-not-boolean' | 'unknown-effect';
  /** What a predicate threw, as it was thrown. */
  readonly error?: unknown;
}

/** What a profile lets an agent have. More than two of the three is asking for trouble. */
export interface RuleOfTwoProfile {
  /** The agent reads text of strangers. */
  readonly untrustedInput: boolean;
  /** The agent sees private data. */
  readonly sensitiveData: boolean;
  /** The agent changes something outside. */
  readonly externalSideEffects: boolean;
}
/** One of the three. */
export type TrifectaLeg = 'untrusted-input' | 'sensitive-data' | 'external-side-effects';
/** A profile as a policy. */
export interface RuleOfTwoCompilation {
  /** The rules that follow. */
  readonly policy: ToolArgumentPolicy;
  /** Present when the profile has no external side effects. */
  readonly capability?: 'read-only';
  /** Which of the three it has, in the order of {@link TrifectaLeg}. */
  readonly heldLegs: readonly TrifectaLeg[];
  /** Whether all three are claimed at once. */
  readonly holdsFullTrifecta: boolean;
}
