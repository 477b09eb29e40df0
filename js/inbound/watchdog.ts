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

interface Watchdog {
  readonly slot: Slot;
  readonly context: Context;
  readonly script: Script;
}

let watchdog: Watchdog | undefined;

const LONGEST_TIMEOUT_MS = 2_147_483_647;

/**
 * Sets the watchdog up, once. That takes longer than many a budget, so whoever runs against a clock asks for it
 * before he starts the clock: a scan that is out of time masks nothing.
 *
 * @internal
 */
export function readyWatchdog(): Watchdog {
  if (watchdog === undefined) {
    const slot = { job: () => undefined };
    watchdog = { slot, context: builtins.vm().createContext(slot), script: new (builtins.vm().Script)('job()') };
  }
  return watchdog;
}

/**
 * Runs a synchronous job for at most `budgetMs` milliseconds (rounded up to whole ones; not finite:
 * no limit). Returns undefined when it ran out of time or threw: either way nothing is known.
 *
 * @internal
 */
export function underWatchdog<T>(job: () => T, budgetMs: number): { readonly value: T } | undefined {
  if (!(budgetMs > 0)) return undefined;
  const { slot, context, script } = readyWatchdog();
  const outer = slot.job;
  let result: { readonly value: T } | undefined;
  slot.job = () => {
    result = { value: job() };
  };
  try {
    const bounded = budgetMs < LONGEST_TIMEOUT_MS;
    script.runInContext(context, bounded ? { timeout: Math.max(1, Math.ceil(budgetMs)) } : {});
    return result;
  } catch {
    return undefined;
  } finally {
    slot.job = outer;
  }
}
