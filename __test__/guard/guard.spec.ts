import { afterEach, describe, expect, it } from 'vitest';
import {
  DEFAULT_MEMORY_TAG_PATTERNS,
  MemoryGuardBudgetExceededError,
  _getMemoryGuardAuditListenerCountForTesting,
  _resetMemoryGuardAuditListenersForTesting,
  classifyTool,
  createApiBoundaryGuard,
  createAuditOnlyGuard,
  createGuard,
  createNoGuard,
  createStrictFullGuard,
  emitMemoryGuardAudit,
  guardVariantForTier,
  hashRegion,
  onMemoryGuardAudit,
  xxhash32,
  type CreateGuardOptions,
  type MemoryGuardAuditEvent,
  type MemoryGuardTier,
} from 'ferrule/guard';

afterEach(() => _resetMemoryGuardAuditListenersForTesting());

const heard = (): MemoryGuardAuditEvent[] => {
  const events: MemoryGuardAuditEvent[] = [];
  onMemoryGuardAudit((event) => events.push(event));
  return events;
};
/** A reader over a map that tests change. */
const memory = (contents: Record<string, string | Uint8Array>) => {
  const reads: string[] = [];
  return {
    contents,
    reads,
    get regions() {
      return Object.keys(contents);
    },
    async read(region: string) {
      reads.push(region);
      return contents[region] ?? '';
    },
  };
};
const number = expect.any(Number) as number;

describe('3.2 hash', () => {
  it.each([
    ['', 0, '02cc5d05'],
    ['', 1, '0b2cb792'],
    ['a', 0, '550d7456'],
    ['abc', 0, '32d153ff'],
    ['hello', 0, 'fb0077f9'],
    ['Nobody inspects the spammish repetition', 0, 'e2293b2f'],
    ['é😀', 0, '89d469a0'],
    ['x'.repeat(10_000), 0, 'b8fd2e58'],
    [Uint8Array.of(0, 1, 255), 0, '49faa516'],
    [Buffer.from([0, 1, 255]), 0, '49faa516'],
    [Uint8Array.of(9, 0, 1, 255, 9).subarray(1, 4), 0, '49faa516'],
    ['a', -1, 'cd42752d'],
    ['a', 0xffffffff, 'cd42752d'],
  ])('%j seed %s', async (input, seed, expected) => {
    expect(xxhash32(input, seed)).toBe(expected);
    expect(await hashRegion(input, seed)).toBe(expected);
  });

  it('lone surrogates count as U+FFFD; the seed defaults to 0', async () => {
    expect(xxhash32('a\ud800b')).toBe(xxhash32('a\ufffdb'));
    expect(xxhash32('abc')).toBe('32d153ff');
    expect(hashRegion('x')).toBeInstanceOf(Promise);
    for (const input of [{}, null, 7, undefined]) {
      await expect(hashRegion(input as never)).rejects.toThrow(new TypeError('xxhash32 needs a string or a Uint8Array.'));
    }
  });
});

describe('3.3 tiers', () => {
  const tiers: [MemoryGuardTier, string][] = [
    ['pure', 'NO_GUARD'],
    ['side-effecting-no-memory', 'NO_GUARD'],
    ['memory-aware', 'API_BOUNDARY_GUARD'],
    ['unknown', 'AUDIT_ONLY_GUARD'],
    ['untrusted', 'STRICT_FULL_GUARD'],
  ];

  it.each(tiers)('%s gets %s', async (tier, variant) => {
    expect(guardVariantForTier(tier)).toBe(variant);
    const guard = createGuard({ tier, allowedOps: [], observedOps: () => [] } as unknown as CreateGuardOptions);
    expect(guard.tier).toBe(tier);
    expect(Object.isFrozen(guard)).toBe(true);
    const { snapshot, verify } = guard;
    const taken = await snapshot(memory({ a: 'x' }));
    expect(Object.isFrozen(taken)).toBe(true);
    expect(Object.isFrozen(taken.digest)).toBe(true);
    const result = await verify(taken, memory({ a: 'x' }));
    expect(result).toMatchObject({ ok: true, tier });
    expect(Object.isFrozen(result)).toBe(false);
  });

  it('an unknown tier throws an error that names it', () => {
    expect(() => guardVariantForTier('odd' as MemoryGuardTier)).toThrow(/odd/);
    expect(() => createGuard({ tier: 'odd' } as never)).toThrow(/odd/);
  });

  it('no guard: nothing read, nothing said', async () => {
    const events = heard();
    const reader = memory({ a: 'x' });
    const guard = createNoGuard('pure');
    const taken = await guard.snapshot(reader);
    expect(taken).toEqual({ digest: [], durationUs: 0 });
    expect(await guard.verify(taken, reader)).toStrictEqual({ ok: true, tier: 'pure', snapshot: taken, verifyDurationUs: 0 });
    expect(reader.reads).toEqual([]);
    expect(events).toEqual([]);
  });

  it('hashes regions one after another, in order', async () => {
    const reader = memory({ b: 'abc', a: Uint8Array.of(0, 1, 255) });
    const taken = await createAuditOnlyGuard().snapshot(reader);
    expect(taken.digest).toEqual([
      { region: 'b', hash: '32d153ff' },
      { region: 'a', hash: '49faa516' },
    ]);
    expect(reader.reads).toEqual(['b', 'a']);
    expect(taken.durationUs).toBeGreaterThan(0);
  });

  it('steps return promises and reject with what the reader rejects with', async () => {
    const boom = new Error('boom');
    const broken = { regions: ['a'], read: () => Promise.reject(boom) };
    const throwing = { get regions(): string[] { throw boom; }, read: async () => '' };
    for (const guard of [createAuditOnlyGuard(), createStrictFullGuard()]) {
      for (const reader of [broken, throwing]) {
        const step = guard.snapshot(reader);
        expect(step).toBeInstanceOf(Promise);
        await expect(step).rejects.toBe(boom);
        await expect(guard.verify({ digest: [], durationUs: 0 }, reader)).rejects.toBe(boom);
      }
    }
  });

  it.each([
    ['unknown', true],
    ['untrusted', false],
  ] as const)('%s: a changed region gives ok %s; new and vanished ones are told', async (tier, ok) => {
    const guard = createGuard({ tier });
    const reader = memory({ a: '1', b: '2', c: '3' });
    const before = await guard.snapshot(reader);
    const events = heard();
    reader.contents['a'] = 'changed';
    reader.contents['d'] = 'new';
    delete reader.contents['c'];
    const result = await guard.verify(before, reader);
    expect(result.ok).toBe(ok);
    if (!result.ok) expect(result.mismatched).toEqual(['a']);
    else expect(result).not.toHaveProperty('mismatched');
    expect(result.snapshot.digest.map(({ region }) => region)).toEqual(['a', 'b', 'd']);
    expect(result.verifyDurationUs).toBe(result.snapshot.durationUs);
    expect(events[0]?.metadata).toStrictEqual({ mismatchCount: 1, regionCount: 3, verifyDurationUs: number, added: ['d'], vanished: ['c'] });
  });

  it('API boundary: compares operations; keeps order and duplicates; copies the allowed list', async () => {
    let asked = 0;
    const allowedOps = ['read'];
    const guard = createApiBoundaryGuard({
      allowedOps,
      observedOps: () => {
        asked += 1;
        return ['write', 'read', 'drop', 'write'];
      },
    });
    allowedOps.push('write', 'drop');
    const reader = memory({ a: 'x' });
    const before = await guard.snapshot(reader);
    expect(asked).toBe(0);
    expect(before).toEqual({ digest: [], durationUs: 0 });
    const result = await guard.verify(before, reader);
    expect(result).toStrictEqual({ ok: false, tier: 'memory-aware', mismatched: ['write', 'drop', 'write'], snapshot: before, verifyDurationUs: number });
    expect(asked).toBe(1);
    expect(reader.reads).toEqual([]);
    const clean = createApiBoundaryGuard({ allowedOps: ['a'], observedOps: () => ['a', 'a'] });
    expect(await clean.verify(before, reader)).toStrictEqual({ ok: true, tier: 'memory-aware', snapshot: before, verifyDurationUs: number });
  });

  it('strict budget: equal is fine, one more rejects; the total runs over regions; UTF-8 counts', async () => {
    const guard = createStrictFullGuard({ maxMemoryBytes: 6 });
    await guard.snapshot(memory({ a: 'éé', b: Uint8Array.of(1, 2) }));
    const events = heard();
    const error = await guard.snapshot(memory({ a: 'éé', b: 'xyz', c: 'never' })).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(MemoryGuardBudgetExceededError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'MemoryGuardBudgetExceededError', kind: 'memory-guard-budget-exceeded', observedBytes: 7, maxBytes: 6 });
    expect((error as Error).message).toMatch(/7.*6/);
    expect(events).toStrictEqual([
      { action: 'memory:guard:exceeded-budget', decision: 'denied', ts: number, tier: 'untrusted', regions: ['b'], metadata: { totalBytes: 7, maxMemoryBytes: 6 } },
    ]);
    expect(Object.isFrozen(events[0]?.metadata)).toBe(true);
    const before = await guard.snapshot(memory({ a: 'x' }));
    expect((await guard.verify(before, memory({ a: 'longer than the budget' }))).ok).toBe(false);
  });

  it('the default budget is 204800 bytes', async () => {
    const guard = createStrictFullGuard();
    await guard.snapshot(memory({ a: 'x'.repeat(204_800) }));
    await expect(guard.snapshot(memory({ a: 'x'.repeat(204_801) }))).rejects.toMatchObject({ maxBytes: 204_800, observedBytes: 204_801 });
  });

  it('the 95th percentile of both durations stays below 200 µs on a 10 KB region (a loaded machine: 20 ms)', async () => {
    const guard = createStrictFullGuard();
    const reader = memory({ a: 'm'.repeat(10_240) });
    const times: number[] = [];
    for (let round = 0; round < 200; round += 1) {
      const before = await guard.snapshot(reader);
      const result = await guard.verify(before, reader);
      times.push(before.durationUs, result.verifyDurationUs);
    }
    times.sort((a, b) => a - b);
    expect(times[times.length >> 1]).toBeLessThan(1000);
    expect(times[Math.floor(times.length * 0.95)]).toBeLessThan(20_000);
  });
});

describe('3.4 events', () => {
  const actor = { kind: 'tool', toolName: 't', runId: 'r' } as const;
  const base = (tier: string) => ({ ts: number, tier, actor });

  it.each([
    ['unknown', {}, 'success'],
    ['untrusted', { totalBytes: 4 }, 'denied'],
  ] as const)('%s: the rows of clean and drifted cycles', async (tier, bytes, decision) => {
    const events = heard();
    const guard = createGuard({ tier, actor });
    const reader = memory({ a: 'xy', b: 'zw' });
    const before = await guard.snapshot(reader);
    const regions = ['a', 'b'];
    const durationUs = before.durationUs;
    expect(events).toStrictEqual([
      { ...base(tier), action: 'memory:modification:before', decision: 'success', metadata: { regionCount: 2, regions, durationUs, ...bytes } },
      { ...base(tier), action: 'memory:guard:snapshot', decision: 'success', metadata: { regionCount: 2, durationUs, ...bytes } },
    ]);
    for (const event of events) expect(Object.isFrozen(event.metadata)).toBe(true);
    events.length = 0;
    await guard.verify(before, reader);
    expect(events).toStrictEqual([
      { ...base(tier), action: 'memory:modification:after', decision: 'success', metadata: { mismatchCount: 0, regionCount: 2, verifyDurationUs: number } },
      { ...base(tier), action: 'memory:guard:verified', decision: 'success' },
    ]);
    events.length = 0;
    reader.contents['b'] = 'changed';
    await guard.verify(before, reader);
    expect(events).toStrictEqual([
      { ...base(tier), action: 'memory:modification:after', decision, regions: ['b'], metadata: { mismatchCount: 1, regionCount: 2, verifyDurationUs: number } },
      { ...base(tier), action: 'memory:guard:mismatch', decision, regions: ['b'] },
    ]);
  });

  it('API boundary: exactly two rows a cycle', async () => {
    const events = heard();
    for (const observed of [['a'], ['a', 'b']]) {
      const guard = createApiBoundaryGuard({ allowedOps: ['a'], observedOps: () => observed });
      await guard.verify(await guard.snapshot(memory({})), memory({}));
    }
    expect(events).toStrictEqual([
      { ts: number, tier: 'memory-aware', action: 'memory:guard:snapshot', decision: 'success' },
      { ts: number, tier: 'memory-aware', action: 'memory:guard:verified', decision: 'success', metadata: { observed: ['a'] } },
      { ts: number, tier: 'memory-aware', action: 'memory:guard:snapshot', decision: 'success' },
      { ts: number, tier: 'memory-aware', action: 'memory:guard:mismatch', decision: 'denied', regions: ['b'], metadata: { observed: ['a', 'b'] } },
    ]);
  });

  it('the bus: order, identity, isolation, distinct listeners, anything passes', () => {
    const order: unknown[] = [];
    const listener = (event: unknown) => order.push(['first', event]);
    onMemoryGuardAudit(() => { throw new Error('x'); });
    const stop = onMemoryGuardAudit(listener);
    onMemoryGuardAudit(listener);
    onMemoryGuardAudit((event) => order.push(['second', event]));
    expect(_getMemoryGuardAuditListenerCountForTesting()).toBe(3);
    const event = { anything: true } as never;
    emitMemoryGuardAudit(event);
    expect(order).toEqual([['first', event], ['second', event]]);
    expect((order[0] as unknown[])[1]).toBe(event);
    stop();
    expect(_getMemoryGuardAuditListenerCountForTesting()).toBe(2);
    _resetMemoryGuardAuditListenersForTesting();
    expect(_getMemoryGuardAuditListenerCountForTesting()).toBe(0);
  });
});

describe('3.5 classifier', () => {
  it.each([
    [{ memoryGuardTier: 'pure', trustLevel: 'untrusted', tags: ['memory'] }, 'pure'],
    [{ trustLevel: 'untrusted', tags: ['memory'] }, 'untrusted'],
    [{ trustLevel: 'trusted' }, 'unknown'],
    [{ tags: ['x', 'MEMORY'] }, 'memory-aware'],
    [{ secretsAllowed: ['memory.key'] }, 'memory-aware'],
    [{ name: 'recall' }, 'memory-aware'],
    [{ name: 'memory:x' }, 'memory-aware'],
    [{ name: 'memory-' }, 'memory-aware'],
    [{ name: 'memory_search' }, 'memory-aware'],
    [{ name: 'Remember' }, 'memory-aware'],
    [{ name: 'fact' }, 'memory-aware'],
    [{ name: 'facts' }, 'memory-aware'],
    [{ name: 'memoryx' }, 'unknown'],
    [{ name: 'remember_it' }, 'unknown'],
    [{ name: 'fact:x' }, 'unknown'],
    [{}, 'unknown'],
  ] as const)('%j is %s', (tool, tier) => expect(classifyTool(tool as never)).toBe(tier));

  it('patterns are frozen, real expressions, and may be replaced; global ones are safe', () => {
    expect(Object.isFrozen(DEFAULT_MEMORY_TAG_PATTERNS)).toBe(true);
    expect(DEFAULT_MEMORY_TAG_PATTERNS.every((pattern) => pattern instanceof RegExp)).toBe(true);
    const patterns = [/note/g];
    expect([1, 2, 3].map(() => classifyTool({ name: 'note' }, patterns))).toEqual(Array(3).fill('memory-aware'));
    expect(classifyTool({ name: 'memory' }, patterns)).toBe('unknown');
    expect([{ name: 'memory' }, { name: 'x' }].map(classifyTool as never)).toEqual(['memory-aware', 'unknown']);
  });
});
