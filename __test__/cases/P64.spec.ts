/** P64: a process lives as long as a call is pending, and no longer. */
import { expect, it } from 'vitest';
import { child } from '../executor/child.js';

it.each([
  ['after one call', 'once', 'once', 0],
  ['while a call waits for its own timer', 'pending', 'pending', 290],
  ['while nothing but its limit keeps a call alive', 'limit', 'timeout', 290],
] as const)('P64: %s', async (_name, mode, outcome, atLeastMs) => {
  const { report, endedAt } = await child<{ outcome: string; ms: number; at: number }>('exit', [mode]);
  expect(report.outcome).toBe(outcome);
  expect(report.ms).toBeGreaterThanOrEqual(atLeastMs);
  // Gone by itself at once; the slack is for a busy machine.
  expect(endedAt - report.at).toBeLessThan(1_500);
}, 60_000);
