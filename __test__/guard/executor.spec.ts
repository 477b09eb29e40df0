/** The guards of this room at work in the executor (section 3.6, and what issue 7 asks to be better). */
import { describe, expect, it, vi } from 'vitest';
import { createGuard, onMemoryGuardAudit, type CreateGuardOptions, type MemoryGuardAuditEvent, type MemoryGuardTier } from 'ferrule/guard';
import { bench, counters, entry } from '../executor/kit.js';

/** A tool of a tier that writes what it is told into the memory it is watched on. */
function watched(tier: MemoryGuardTier, writes: Record<string, string>, guard: object = {}) {
  const memory: Record<string, string> = { facts: 'the sky is blue', persona: 'helpful' };
  const execute = vi.fn(async () => {
    Object.assign(memory, writes);
    return 'done';
  });
  const observedOps = () => Object.keys(writes).map((region) => `write:${region}`);
  const options = { tier, allowedOps: ['write:scratch'], observedOps, ...guard } as unknown as CreateGuardOptions;
  const b = bench([entry('t', { memoryGuardTier: tier, execute })], {
    memoryGuardFactory: () => createGuard(options),
    memoryRegionReader: { regions: ['facts', 'persona'], read: async (region: string) => memory[region] ?? '' },
  } as never);
  return { b, execute };
}

const mismatches = (tier: string) => counters()[`tool.executor.memory_guard.mismatch.total{tier=${tier},toolName=t}`];

describe('issue 7: mismatches are counted for every tier that watches', () => {
  it.each([
    ['memory-aware', true],
    ['unknown', false],
    ['untrusted', true],
  ] as const)('%s', async (tier, reported) => {
    const { b } = watched(tier, { facts: 'the sky is green' });
    const { outcome } = await b.one('t');
    expect('output' in outcome && outcome.output).toBe('done');
    expect(mismatches(tier)).toBe(1);
    expect(b.row('tool:execute:error') !== undefined).toBe(reported);
    const clean = watched(tier, {});
    await clean.b.one('t');
    expect(mismatches(tier)).toBeUndefined();
  });

  it.each(['pure', 'side-effecting-no-memory'] as const)('%s watches nothing', async (tier) => {
    const { b } = watched(tier, { facts: 'the sky is green' });
    await b.one('t');
    expect(mismatches(tier)).toBeUndefined();
  });
});

describe('issue 7: a strict snapshot that fails or runs over its budget blocks the call', () => {
  it('over the budget', async () => {
    const events: MemoryGuardAuditEvent[] = [];
    const stop = onMemoryGuardAudit((event) => events.push(event));
    const { b, execute } = watched('untrusted', {}, { maxMemoryBytes: 20 });
    const { outcome } = await b.one('t');
    stop();
    expect(outcome).toMatchObject({ kind: 'capability_blocked', message: expect.stringMatching(/22 bytes.*20/) as string });
    expect(execute).not.toHaveBeenCalled();
    expect(events.map(({ action, regions }) => [action, regions])).toEqual([['memory:guard:exceeded-budget', ['persona']]]);
  });

  it('exactly the budget runs', async () => {
    const { b, execute } = watched('untrusted', {}, { maxMemoryBytes: 22 });
    await b.one('t');
    expect(execute).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['untrusted', 0],
    ['unknown', 1],
  ] as const)('%s, and the reader fails: the tool runs %i times', async (tier, runs) => {
    const execute = vi.fn(async () => 'done');
    const b = bench([entry('t', { memoryGuardTier: tier, execute })], {
      memoryGuardFactory: () => createGuard({ tier }),
      memoryRegionReader: { regions: ['facts'], read: () => Promise.reject(new Error('the store is gone')) },
    } as never);
    const { outcome } = await b.one('t');
    expect(execute).toHaveBeenCalledTimes(runs);
    if (runs === 0) expect(outcome).toMatchObject({ kind: 'capability_blocked', message: expect.stringContaining('the store is gone') as string });
  });
});
