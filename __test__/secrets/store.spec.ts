import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  MemorySecretsStore,
  MemoryStoreInProductionError,
  SecretAccessDeniedError,
  SecretRequiredError,
  SecretValue,
  _resetSecretsAuditListenersForTesting,
  _resetSecretsFactoryForTesting,
  onSecretsAudit,
  withToolSecretsContext,
  type SecretsAuditEvent,
} from 'ferrule/secrets';

afterEach(() => {
  _resetSecretsAuditListenersForTesting();
  _resetSecretsFactoryForTesting();
  vi.unstubAllEnvs();
});

const heard = (): SecretsAuditEvent[] => {
  const rows: SecretsAuditEvent[] = [];
  onSecretsAudit((row) => rows.push(row));
  return rows;
};
const inTool = <T>(allowed: string[], fn: () => T): T =>
  withToolSecretsContext({ toolName: 't', secretsAllowed: allowed }, fn);

describe('6.5 MemorySecretsStore', () => {
  it('refuses production without the flag', () => {
    vi.stubEnv('NODE_ENV', 'production');
    expect(() => new MemorySecretsStore()).toThrow(MemoryStoreInProductionError);
    expect(new MemorySecretsStore({ forceProduction: true }).kind).toBe('memory');
  });

  it('stores, gets back the same object, deletes', async () => {
    const store = new MemorySecretsStore();
    const value = SecretValue.fromString('v');
    await store.set('V', value);
    await store.set('S', 'text');
    expect(await store.get('V')).toBe(value);
    const text = await store.require('S');
    expect(text.reveal()).toBe('text');
    expect(text.source).toEqual({ resolver: 'memory', ref: 'memory:S' });
    expect(store.size).toBe(2);
    await store.delete('S');
    await store.delete('never there');
    expect(await store.get('S')).toBeNull();
    await expect(store.require('S')).rejects.toBeInstanceOf(SecretRequiredError);
  });

  it('one row for each operation but list, before its promise settles, never a value', async () => {
    const rows = heard();
    const store = new MemorySecretsStore();
    const steps: [() => Promise<unknown>, string, string, object][] = [
      [() => store.set('K', 'hidden-value'), 'secret:set', 'success', {}],
      [() => store.get('K'), 'secret:get', 'success', {}],
      [() => store.require('K'), 'secret:require', 'success', {}],
      [() => store.delete('K'), 'secret:delete', 'success', {}],
      [() => store.delete('K'), 'secret:delete', 'success', {}],
      [() => store.get('K'), 'secret:get', 'not-found', {}],
      [() => store.require('K'), 'secret:require', 'not-found', { metadata: { errorKind: 'secret-required' } }],
    ];
    for (const [step, action, decision, more] of steps) {
      rows.length = 0;
      await step().catch(() => undefined);
      expect(rows).toStrictEqual([{ action, decision, ts: expect.any(Number) as number, source: 'memory', target: 'K', ...more }]);
    }
    rows.length = 0;
    await store.list();
    expect(rows).toEqual([]);
    expect(JSON.stringify(rows)).not.toContain('hidden-value');
  });

  it('inside a tool: require rejects, get resolves null, both denied; the actor is the tool', async () => {
    const store = new MemorySecretsStore();
    await store.set('K', 'v');
    const rows = heard();
    await inTool(['OTHER'], async () => {
      const required = store.require('K');
      expect(required).toBeInstanceOf(Promise);
      await expect(required).rejects.toBeInstanceOf(SecretAccessDeniedError);
      expect(await store.get('K')).toBeNull();
    });
    expect(rows.map(({ action, decision, actor, metadata }) => ({ action, decision, actor, metadata }))).toEqual([
      { action: 'secret:require', decision: 'denied', actor: { kind: 'tool', toolName: 't' }, metadata: { errorKind: 'secret-access-denied' } },
      { action: 'secret:get', decision: 'denied', actor: { kind: 'tool', toolName: 't' }, metadata: undefined },
    ]);
    rows.length = 0;
    await inTool(['K'], async () => expect((await store.require('K')).reveal()).toBe('v'));
    expect(rows[0]?.actor).toStrictEqual({ kind: 'tool', toolName: 't' });
    await inTool([], async () => {
      await store.set('NEW', 'x');
      await store.delete('NEW');
    });
  });

  it('scopes are apart, global included', async () => {
    const store = new MemorySecretsStore();
    await store.set('K', 'global');
    await store.set('K', 'user', { scope: { userId: 'u' } });
    await store.set('K', 'session', { scope: { userId: 'u', sessionId: 's' } });
    const read = async (scope?: object) => (await store.get('K', scope))?.reveal() ?? null;
    expect(await read()).toBe('global');
    expect(await read({ userId: 'u' })).toBe('user');
    expect(await read({ userId: 'u', sessionId: 's' })).toBe('session');
    expect(await read({ agentId: 'u' })).toBeNull();
    expect(await read({ sessionId: 's' })).toBeNull();
    expect(store.size).toBe(3);
    await store.delete('K', { userId: 'u' });
    expect(await read()).toBe('global');
    expect(await read({ userId: 'u' })).toBeNull();
  });

  it('lists frozen entries without values; createdAt survives an overwrite', async () => {
    vi.useFakeTimers({ now: 1_000_000 });
    const store = new MemorySecretsStore();
    await store.set('A', 'x', { tags: ['t'], expiresAt: '2030-01-01T00:00:00.000Z' });
    vi.setSystemTime(2_000_000);
    await store.set('A', 'y');
    await store.set('B', 'z');
    vi.useRealTimers();
    const list = await store.list();
    expect(Object.isFrozen(list)).toBe(true);
    expect(list).toStrictEqual([
      { key: 'A', createdAt: new Date(1_000_000).toISOString(), updatedAt: new Date(2_000_000).toISOString(), source: 'memory' },
      { key: 'B', createdAt: new Date(2_000_000).toISOString(), updatedAt: new Date(2_000_000).toISOString(), source: 'memory' },
    ]);
    await store.set('A', 'x', { scope: {}, tags: ['t'], expiresAt: '2030-01-01T00:00:00.000Z' });
    expect(await store.list({})).toMatchObject([{ key: 'A', tags: ['t'], expiresAt: '2030-01-01T00:00:00.000Z' }]);
  });
});
