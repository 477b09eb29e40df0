/**
 * The rules of a policy as the engine knows them.
 *
 * Rules are ordinary objects of the caller's, and may be changed at any time. So what was compiled is
 * remembered by the list it came from, and good for as long as each rule still says the same: whoever
 * uses it compares rule by rule, and compiles anew when one differs.
 *
 * @internal
 */
import { native } from '../binding.js';
import type { NativeRules } from '../../native/binding.js';
import type { ToolArgumentRule } from './types.js';

/** How many tools are remembered for each list of rules; more than an app has. */
const MOST_NAMES = 1024;

/** The engine, and what each rule said when it was made. @internal */
export interface CompiledRules {
  readonly engine: NativeRules;
  readonly effects: readonly unknown[];
  readonly tools: readonly unknown[];
  /** The first rule whose tool is no text, which can match nothing; the number of rules when there is none. */
  readonly firstOdd: number;
  /** The answers of {@link speakingOf}. */
  readonly names: Map<string, readonly number[]>;
}

const known = new WeakMap<readonly ToolArgumentRule[], CompiledRules>();
/** A policy that is put together for every call is a new list with the rules of the last one. */
let latest: CompiledRules | undefined;

/** Compiles anew, whatever is remembered. @internal */
export function compileRules(rules: readonly ToolArgumentRule[]): CompiledRules {
  const effects: unknown[] = [];
  const tools: unknown[] = [];
  const words: string[] = [];
  for (let at = 0; at < rules.length; at += 1) {
    const { effect, tool } = (rules[at] ?? {}) as { readonly effect?: unknown; readonly tool?: unknown };
    effects.push(effect);
    tools.push(tool);
    // An effect that is no text is no word of the grammar.
    words.push(typeof effect === 'string' ? effect : '', typeof tool === 'string' ? tool : '');
  }
  const odd = tools.findIndex((tool) => typeof tool !== 'string');
  const lengths = Uint32Array.from(words, (word) => word.length);
  latest = {
    engine: new (native().NativeRules)(words.join(''), lengths),
    effects,
    tools,
    firstOdd: odd < 0 ? tools.length : odd,
    names: new Map(),
  };
  known.set(rules, latest);
  return latest;
}

/** What is remembered of a list, or compiled now. Each rule has to be compared before it counts. @internal */
export function compiledRules(rules: readonly ToolArgumentRule[]): CompiledRules {
  const compiled = known.get(rules);
  if (compiled !== undefined) return compiled;
  return latest?.tools.length === rules.length ? latest : compileRules(rules);
}

/**
 * The rules that speak of a tool, in order, as the engine encodes them.
 *
 * @internal
 */
export function speakingOf(compiled: CompiledRules, toolName: string): readonly number[] {
  const { engine, names } = compiled;
  let speaking = names.get(toolName);
  if (speaking === undefined) {
    speaking = engine.speakingOf(toolName);
    if (names.size >= MOST_NAMES) names.clear();
    names.set(toolName, speaking);
  }
  return speaking;
}

/** Throws for a rule that can match nothing. @internal */
export function refuseOdd(at: number): never {
  throw new TypeError(`Rule ${at} of the argument policy: 'tool' must be a string.`);
}
