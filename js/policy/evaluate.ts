/**
 * Evaluation of argument policies. Synchronous and pure but for what predicates do.
 *
 * @packageDocumentation
 */
import { emitToolAudit } from '../audit/index.js';
import type {
  NameDenialDecision,
  PermissionDecision,
  PermissionExplanation,
  ToolArgumentPolicy,
  ToolArgumentRule,
  ToolCallFacts,
  ToolPolicyDecision,
} from './types.js';

/** Strongest last. `deny` and `forbid` end the walk and have no place here. */
const STRENGTH: ReadonlyMap<string, number> = new Map([
  ['allow', 1],
  ['ask', 2],
  ['defer', 3],
]);

const isDenial = (effect: string): boolean => effect === 'deny' || effect === 'forbid';

function matchesName(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

function defaultReason(effect: string, name: string): string {
  if (effect === 'ask') return `tool '${name}' requires an interactive approval by policy`;
  if (effect === 'defer') return `tool '${name}' requires a deferred approval by policy`;
  return `tool '${name}' is denied by policy`;
}

function describe(rule: ToolArgumentRule, index: number): string {
  const reason = rule.reason === undefined ? '' : `, "${rule.reason}"`;
  return `rule ${index} (${String(rule.effect)} '${rule.tool}'${reason})`;
}

function unjudged(
  name: string,
  rule: ToolArgumentRule,
  ruleIndex: number,
  cause: 'predicate-threw' | 'predicate-not-boolean' | 'unknown-effect',
  what: string,
  thrown?: { readonly error: unknown },
): PermissionExplanation {
  const reason = `tool '${name}' is denied by policy: ${describe(rule, ruleIndex)} ${what}`;
  return { decision: { effect: 'deny', reason }, rule, ruleIndex, cause, ...thrown };
}

/**
 * {@link evaluatePermissionDecision}, and what led to the decision: the rule and its place, and what a
 * failing predicate threw. Emits no audit row.
 *
 * @example
 * const { decision, ruleIndex } = explainPermissionDecision(policy, facts);
 */
export function explainPermissionDecision(policy: ToolArgumentPolicy, facts: ToolCallFacts): PermissionExplanation {
  const { toolName } = facts;
  let strongest: { readonly rule: ToolArgumentRule; readonly ruleIndex: number } | undefined;
  let strength = 0;
  for (const [ruleIndex, rule] of policy.rules.entries()) {
    if (!matchesName(rule.tool, toolName)) continue;
    if (rule.when !== undefined) {
      let answer: unknown;
      try {
        answer = rule.when(facts);
      } catch (error) {
        return unjudged(toolName, rule, ruleIndex, 'predicate-threw', 'threw in its predicate', { error });
      }
      if (answer instanceof Promise) answer.catch(() => undefined);
      if (typeof answer === 'object' && answer !== null && 'then' in answer) {
        return unjudged(toolName, rule, ruleIndex, 'predicate-not-boolean', 'has an async predicate');
      }
      if (!answer) continue;
    }
    if (isDenial(rule.effect)) {
      const reason = rule.reason ?? defaultReason('deny', toolName);
      return { decision: { effect: 'deny', reason }, rule, ruleIndex, cause: 'rule' };
    }
    const own = STRENGTH.get(rule.effect);
    if (own === undefined) {
      return unjudged(toolName, rule, ruleIndex, 'unknown-effect', 'has an unknown effect');
    }
    if (own > strength) {
      strength = own;
      strongest = { rule, ruleIndex };
    }
  }
  if (strongest === undefined) {
    if (policy.defaultDenySensitive !== true || facts.sensitive !== true) {
      return { decision: { effect: 'allow' }, cause: 'no-match' };
    }
    const reason = `sensitive tool '${toolName}' has no explicit allow rule (default-deny)`;
    return { decision: { effect: 'deny', reason }, cause: 'default-deny' };
  }
  const { effect, reason } = strongest.rule;
  const decision: PermissionDecision =
    effect === 'ask' || effect === 'defer'
      ? { effect, reason: reason ?? defaultReason(effect, toolName) }
      : { effect: 'allow' };
  return { decision, ...strongest, cause: 'rule' };
}

/** A rule that could not be judged is a fault of the policy, and is reported as one. */
function decide(policy: ToolArgumentPolicy, facts: ToolCallFacts): PermissionDecision {
  const { decision, cause, ruleIndex, error } = explainPermissionDecision(policy, facts);
  if (cause === 'predicate-threw' || cause === 'predicate-not-boolean' || cause === 'unknown-effect') {
    emitToolAudit({
      action: 'tool:execute:error',
      actor: { kind: 'system', id: 'policy' },
      target: facts.toolName,
      decision: 'denied',
      ts: Date.now(),
      metadata: {
        kind: cause,
        ruleIndex,
        ...(cause === 'predicate-threw' && { error: error instanceof Error ? error.name : typeof error }),
      },
    });
  }
  return decision;
}

/**
 * Decides about a call. Every rule that matches counts: a denial ends the walk; otherwise the
 * strongest of defer, ask and allow wins, the first among equals; with none, sensitive tools are
 * denied when the policy says so, and the rest is allowed. A rule that cannot be judged (its predicate
 * throws or is async, its effect is unknown) denies, with a reason that names it and an audit row.
 *
 * @example
 * evaluatePermissionDecision(
 *   { rules: [{ effect: 'ask', tool: 'mail.*', when: (facts) => facts.sideEffectClass !== 'pure' }] },
 *   { toolName: 'mail.send', sideEffectClass: 'external-stateful' },
 * ).effect; // 'ask'
 */
export function evaluatePermissionDecision(policy: ToolArgumentPolicy, facts: ToolCallFacts): PermissionDecision {
  return decide(policy, facts);
}

/** {@link evaluatePermissionDecision} as yes or no: whatever is not allowed is forbidden. */
export function evaluateToolArgumentPolicy(policy: ToolArgumentPolicy, facts: ToolCallFacts): ToolPolicyDecision {
  const decision = decide(policy, facts);
  return decision.effect === 'allow' ? decision : { effect: 'forbid', reason: decision.reason };
}

/**
 * Whether a tool is denied whatever its arguments: by a deny rule without a predicate. Such a tool need
 * not be offered to the model.
 */
export function isToolDeniedByName(policy: ToolArgumentPolicy, toolName: string): NameDenialDecision {
  const rule = policy.rules.find(
    ({ effect, tool, when }) => when === undefined && isDenial(effect) && matchesName(tool, toolName),
  );
  if (rule === undefined) return { denied: false };
  return { denied: true, reason: rule.reason ?? `tool '${toolName}' is denied by name by policy` };
}
