/**
 * Evaluation of argument policies. Synchronous and pure but for what predicates do.
 *
 * @packageDocumentation
 */
import { emitToolAudit } from '../audit/index.js';
import { native } from '../binding.js';
import { compileRules, compiledRules, refuseOdd, speakingOf } from './compiled.js';
import type {
  NameDenialDecision,
  PermissionDecision,
  PermissionExplanation,
  ToolArgumentPolicy,
  ToolArgumentRule,
  ToolCallFacts,
  ToolPolicyDecision,
} from './types.js';

/** Outcomes of the engine, by number. What is none of these denies. */
const NO_MATCH = 0;
const EFFECTS = new Map<number, 'allow' | 'ask' | 'defer'>([
  [2, 'allow'],
  [3, 'ask'],
  [4, 'defer'],
]);
const DENIED_BY_NAME = 9;
const FAULTS = new Map<number, 'predicate-threw' | 'predicate-not-boolean' | 'unknown-effect'>([
  [6, 'predicate-threw'],
  [7, 'predicate-not-boolean'],
  [8, 'unknown-effect'],
]);

/** What a predicate said. */
const NO = -1;
const YES = 0;
const THREW = 1;
const NOT_BOOLEAN = 2;

/** No rule's mention. */
const NOBODY = -1;

/** The rules that applied, in the order they were asked, and the fault of the last one. */
interface Walk {
  readonly applied: ToolArgumentRule[];
  readonly places: number[];
  fault: typeof YES | typeof THREW | typeof NOT_BOOLEAN;
  error?: unknown;
}

function ask(walk: Walk, rule: ToolArgumentRule, facts: ToolCallFacts): number {
  if (rule.when === undefined) return YES;
  let answer: unknown;
  try {
    answer = rule.when(facts);
  } catch (error) {
    walk.error = error;
    return THREW;
  }
  if (answer instanceof Promise) answer.catch(() => undefined);
  if (typeof answer === 'object' && answer !== null && 'then' in answer) return NOT_BOOLEAN;
  return answer ? YES : NO;
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
  const { rules } = policy;
  const walk: Walk = { applied: [], places: [], fault: YES };
  let compiled = compiledRules(rules);
  let speaking = speakingOf(compiled, toolName);
  let next = 0;
  for (let at = 0; at < rules.length; at += 1) {
    const rule = rules[at]!;
    let mention = speaking[next] ?? NOBODY;
    if (rule.tool !== compiled.tools[at] || (mention >> 1 === at && rule.effect !== compiled.effects[at])) {
      compiled = compileRules(rules);
      speaking = speakingOf(compiled, toolName).filter((later) => later >> 1 >= at);
      next = 0;
      mention = speaking[next] ?? NOBODY;
    }
    if (at >= compiled.firstOdd) refuseOdd(at);
    if (mention >> 1 !== at) continue;
    next += 1;
    const said = ask(walk, rule, facts);
    if (said === NO) continue;
    walk.applied.push(rule);
    walk.places.push(at);
    if (said === THREW || said === NOT_BOOLEAN) walk.fault = said;
    if (said !== YES || (mention & 1) !== 0) break;
  }
  const defaults = (policy.defaultDenySensitive === true ? 1 : 0) | (facts.sensitive === true ? 2 : 0);
  return explanation(compiled.engine.conclude(new Uint32Array(walk.places), walk.fault, defaults), walk, toolName);
}

/** What the engine decided, with the objects and the words that belong to it. */
function explanation(verdict: number, walk: Walk, toolName: string): PermissionExplanation {
  const outcome = verdict & 15;
  const rule = walk.applied[verdict >>> 4];
  const ruleIndex = walk.places[verdict >>> 4];
  if (rule === undefined || ruleIndex === undefined) {
    if (outcome === NO_MATCH) return { decision: { effect: 'allow' }, cause: 'no-match' };
    return { decision: { effect: 'deny', reason: native().policyReason(outcome, toolName) }, cause: 'default-deny' };
  }
  const cause = FAULTS.get(outcome);
  if (cause !== undefined) {
    const { effect, tool, reason } = rule;
    const text = native().policyFaultReason(outcome, toolName, ruleIndex, String(effect), tool, reason && String(reason));
    const thrown = cause === 'predicate-threw' ? { error: walk.error } : {};
    return { decision: { effect: 'deny', reason: text }, rule, ruleIndex, cause, ...thrown };
  }
  const effect = EFFECTS.get(outcome) ?? 'deny';
  const decision: PermissionDecision =
    effect === 'allow' ? { effect } : { effect, reason: rule.reason ?? native().policyReason(outcome, toolName) };
  return { decision, rule, ruleIndex, cause: 'rule' };
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
  const { rules } = policy;
  let compiled = compiledRules(rules);
  for (let at = 0; at < rules.length; at += 1) {
    const { effect, tool } = rules[at]!;
    if (tool !== compiled.tools[at] || effect !== compiled.effects[at]) compiled = compileRules(rules);
    if (at >= compiled.firstOdd) refuseOdd(at);
  }
  const denying = compiled.engine.denying(toolName).find((at) => rules[at]?.when === undefined);
  const rule = denying === undefined ? undefined : rules[denying];
  if (rule === undefined) return { denied: false };
  return { denied: true, reason: rule.reason ?? native().policyReason(DENIED_BY_NAME, toolName) };
}
