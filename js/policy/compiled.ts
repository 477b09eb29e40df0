/**
 * The rules of a policy as the engine knows them.
 *
 * Rules are ordinary objects of the caller's, and may be changed at any time. So what was compiled is
 * remembered by the list it came from, and good for as long as each rule still says the same.
 *
 * @internal
 */
import { native } from '../binding.js';
import type { NativeRules } from '../../native/binding.js';
import type { ToolArgumentRule } from './types.js';

/** The engine, and what each rule said when it was made. @internal */
export interface CompiledRules {
  readonly engine: NativeRules;
  readonly effects: readonly unknown[];
  readonly tools: readonly unknown[];
}

const known = new WeakMap<readonly ToolArgumentRule[], CompiledRules>();

/** Compiles anew, whatever is remembered. @internal */
export function compileRules(rules: readonly ToolArgumentRule[]): CompiledRules {
  const effects: unknown[] = [];
  const tools: unknown[] = [];
  const words: string[] = [];
  for (let at = 0; at < rules.length; at += 1) {
    const { effect, tool } = (rules[at] ?? {}) as { readonly effect?: unknown; readonly tool?: unknown };
    effects.push(effect);
    tools.push(tool);
    // What is no text is no word of the grammar, and is refused when the walk reaches it.
    words.push(typeof effect === 'string' ? effect : '', typeof tool === 'string' ? tool : '');
  }
  const lengths = Uint32Array.from(words, (word) => word.length);
  const compiled = { engine: new (native().NativeRules)(words.join(''), lengths), effects, tools };
  known.set(rules, compiled);
  return compiled;
}

/** What is remembered of a list, or compiled now. Each rule has to be checked before it is used. @internal */
export function compiledRules(rules: readonly ToolArgumentRule[]): CompiledRules {
  return known.get(rules) ?? compileRules(rules);
}

/** Whether a rule is as it was compiled. Throws a `TypeError` for one that can match nothing. @internal */
export function isAsCompiled(compiled: CompiledRules, rule: ToolArgumentRule, at: number): boolean {
  const { tool } = rule;
  if (typeof tool !== 'string') throw new TypeError(`Rule ${at} of the argument policy: 'tool' must be a string.`);
  return tool === compiled.tools[at] && rule.effect === compiled.effects[at];
}
