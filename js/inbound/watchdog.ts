/**
 * Runs a caller's regular expressions under a clock that can stop them.
 *
 * JavaScript cannot interrupt a backtracking expression from inside; the engine's script time-out
 * can, and does so between two backtracks. So a hostile text costs at most the budget.
 */
import type { Context, Script } from 'node:vm';
import { builtins } from '../builtins.js';

interface Slot {
  job: () => void;
}

let script: Script | undefined;
let context: Context | undefined;
let slot: Slot | undefined;

const LONGEST_TIMEOUT_MS = 2_147_483_647;

/**
 * Runs a synchronous job for at most `budgetMs` milliseconds (rounded up to whole ones; not finite:
 * no limit). Returns undefined when it ran out of time or threw: either way nothing is known.
 *
 * @internal
 */
export function underWatchdog<T>(job: () => T, budgetMs: number): { readonly value: T } | undefined {
  if (!(budgetMs > 0)) return undefined;
  if (script === undefined || context === undefined || slot === undefined) {
    slot = { job: () => undefined };
    context = builtins.vm().createContext(slot);
    script = new (builtins.vm().Script)('job()');
  }
  const mine = slot;
  const outer = mine.job;
  let result: { readonly value: T } | undefined;
  mine.job = () => {
    result = { value: job() };
  };
  try {
    const bounded = budgetMs < LONGEST_TIMEOUT_MS;
    script.runInContext(context, bounded ? { timeout: Math.max(1, Math.ceil(budgetMs)) } : {});
    return result;
  } catch {
    return undefined;
  } finally {
    mine.job = outer;
  }
}
