import { format, inspect } from 'node:util';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  SecretValue,
  _resetSecretValueAuditListenersForTesting,
  _resetWithSecretListenersForTesting,
  onSecretValueAudit,
  onWithSecretAudit,
  withSecret,
  withToolSecretsContext,
  type SecretValueAuditEvent,
  type WithSecretAuditEvent,
} from 'ferrule/secrets';

afterEach(() => {
  _resetSecretValueAuditListenersForTesting();
  _resetWithSecretListenersForTesting();
});

const BRAND = Symbol.for('graphorin.SecretValue');
const accesses = (): SecretValueAuditEvent[] => {
  const events: SecretValueAuditEvent[] = [];
  onSecretValueAudit((event) => events.push(event));
  return events;
};

describe('6.3 leak barriers', () => {
  const outlets: [string, (secret: SecretValue) => unknown, unknown][] = [
    ['String()', (s) => String(s), '[SECRET]'],
    ['template', (s) => `${s as unknown as string}`, '[SECRET]'],
    ['+ ""', (s) => (s as unknown as string) + '', '[SECRET]'],
    ['toString', (s) => s.toString(), '[SECRET]'],
    ['toPrimitive string', (s) => s[Symbol.toPrimitive]('string'), '[SECRET]'],
    ['toPrimitive default', (s) => s[Symbol.toPrimitive]('default'), '[SECRET]'],
    ['toJSON', (s) => s.toJSON(), '[SECRET]'],
    ['JSON.stringify', (s) => JSON.stringify(s), '"[SECRET]"'],
    ['JSON.stringify nested', (s) => JSON.stringify({ apiKey: s }), '{"apiKey":"[SECRET]"}'],
    ['format %s', (s) => format('%s', s), '[SECRET]'],
    ['format %j', (s) => format('%j', s), '"[SECRET]"'],
    ['format %O', (s) => format('%O', s), 'SecretValue([REDACTED])'],
    ['format %o', (s) => format('%o', s), 'SecretValue([REDACTED])'],
    ['inspect', (s) => inspect(s), 'SecretValue([REDACTED])'],
    ['inspect nested', (s) => inspect({ a: [s] }, { depth: 9, showHidden: true }), '{ a: [ SecretValue([REDACTED]), [length]: 1 ] }'],
    ['Number', (s) => Number(s), NaN],
    ['unary plus', (s) => +(s as unknown as number), NaN],
    ['format %d', (s) => format('%d', s), 'NaN'],
  ];

  it.each(outlets)('%s', (_name, outlet, expected) => {
    expect(outlet(SecretValue.fromString('hunter2-hunter2'))).toEqual(expected);
  });

  it('no outlet shows any of random values', () => {
    const ascii = fc.string({ unit: fc.integer({ min: 33, max: 126 }).map((c) => String.fromCharCode(c)), minLength: 4, maxLength: 64 });
    fc.assert(
      fc.property(ascii, (raw) => {
        const secret = SecretValue.fromString(raw);
        for (const [name, outlet, expected] of outlets) expect(outlet(secret), name).toEqual(expected);
        const reachable = [
          ...Reflect.ownKeys(secret).map((key) => Reflect.get(secret, key) as unknown),
          { ...secret },
          structuredClone({ ...secret }),
          Object.entries(secret),
        ];
        // `fetchedAt` and source are the only things there; neither knows the value.
        expect(reachable.every((value) => typeof value !== 'string')).toBe(true);
        expect(Object.keys(secret)).toEqual(['fetchedAt']);
        secret.dispose();
      }),
    );
  });

  it('structured clone of the value itself carries no bytes', () => {
    const clone = structuredClone(SecretValue.fromString('topsecret')) as object;
    expect(Object.keys(clone)).toEqual(['fetchedAt']);
    expect(JSON.stringify(clone)).not.toContain('topsecret');
  });

  it('bytes are in no shared pool', async () => {
    const secret = SecretValue.fromString('pool-secret-xyzzy');
    const neighbour = Buffer.from('neighbour');
    expect(Buffer.from(neighbour.buffer).includes('pool-secret-xyzzy')).toBe(false);
    await secret.useBuffer((bytes) => expect(bytes.buffer.byteLength).toBe(bytes.length));
  });
});

describe('6.3 values', () => {
  it('own enumerable keys: source, fetchedAt, ttlMs, each only when given', () => {
    const source = { resolver: 'env', ref: 'env:A' };
    const full = SecretValue.fromString('x', { source, ttlMs: 5 });
    expect(Object.keys(full)).toEqual(['source', 'fetchedAt', 'ttlMs']);
    expect(full.source).toBe(source);
    expect(full.ttlMs).toBe(5);
    expect(Math.abs(full.fetchedAt - Date.now())).toBeLessThan(1000);
    expect(Object.keys(SecretValue.fromString('x'))).toEqual(['fetchedAt']);
  });

  it('is recognised across copies', () => {
    expect(SecretValue.isSecretValue(SecretValue.fromString('x'))).toBe(true);
    expect(SecretValue.isSecretValue({ [BRAND]: true })).toBe(true);
    expect(SecretValue.isSecretValue(Object.assign(() => 0, { [BRAND]: true }))).toBe(true);
    for (const other of [null, undefined, 'x', 1, {}, { [BRAND]: 1 }, () => 0]) {
      expect(SecretValue.isSecretValue(other)).toBe(false);
    }
    expect((SecretValue.prototype as unknown as Record<symbol, unknown>)[BRAND]).toBe(true);
    expect((SecretValue.fromString('') as unknown as Record<symbol, unknown>)[BRAND]).toBe(true);
  });

  it('length is in bytes and stays; buffers are copied both ways', async () => {
    expect(SecretValue.fromString('é😀').length).toBe(6);
    const bytes = new Uint8Array([1, 2, 3]);
    const secret = SecretValue.fromBuffer(bytes);
    bytes.fill(9);
    await secret.useBuffer((copy) => {
      expect(Buffer.isBuffer(copy)).toBe(true);
      expect([...copy]).toEqual([1, 2, 3]);
      copy.fill(0);
    });
    expect(await secret.useBuffer((copy) => copy[0])).toBe(1);
    expect(SecretValue.fromBuffer(new Uint8Array()).length).toBe(0);
    secret.dispose();
    expect(secret.length).toBe(3);
  });

  it('use settles with what fn returns, resolves to or throws', async () => {
    const secret = SecretValue.fromString('raw');
    expect(await secret.use((raw) => `${raw}!`)).toBe('raw!');
    expect(await secret.use(async (raw) => raw.length)).toBe(3);
    const boom = new Error('boom');
    await expect(secret.use(() => { throw boom; })).rejects.toBe(boom);
    expect(secret.reveal()).toBe('raw');
    expect(secret.unwrap()).toBe('raw');
  });

  it('after dispose everything refuses', async () => {
    const secret = SecretValue.fromString('raw');
    secret.dispose();
    secret.dispose();
    expect(secret.disposed).toBe(true);
    expect(() => secret.reveal()).toThrow(/disposed/);
    expect(() => secret.unwrap()).toThrow(/disposed/);
    const used = secret.use((raw) => raw);
    expect(used).toBeInstanceOf(Promise);
    await expect(used).rejects.toThrow(/disposed/);
    await expect(secret.useBuffer((raw) => raw)).rejects.toThrow(/disposed/);
  });

  it('timingSafeEquals', () => {
    const [a, b, c, d] = ['same', 'same', 'diff', 'longer'].map((raw) => SecretValue.fromString(raw)) as [SecretValue, SecretValue, SecretValue, SecretValue];
    expect(SecretValue.timingSafeEquals(a, b)).toBe(true);
    expect(SecretValue.timingSafeEquals(a, c)).toBe(false);
    expect(SecretValue.timingSafeEquals(a, d)).toBe(false);
    expect(SecretValue.timingSafeEquals(a, { [BRAND]: true, length: 4 } as never)).toBe(false);
    b.dispose();
    expect(SecretValue.timingSafeEquals(a, b)).toBe(false);
    expect(SecretValue.timingSafeEquals(SecretValue.fromString(''), SecretValue.fromString(''))).toBe(true);
  });

  it('one event for each access, in order; unwrap counts as reveal; dispose names no caller', async () => {
    const events = accesses();
    onSecretValueAudit(() => { throw new Error('listener'); });
    const source = { resolver: 'r', ref: 'x' };
    await withToolSecretsContext({ toolName: 'mail', secretsAllowed: [] }, async () => {
      const secret = SecretValue.fromString('abc', { source });
      await secret.use(() => 0);
      await secret.useBuffer(() => 0);
      secret.reveal();
      secret.unwrap();
      secret.dispose();
      secret.dispose();
    });
    expect(events.map(({ action }) => action)).toEqual(['construct', 'use', 'use-buffer', 'reveal', 'reveal', 'dispose']);
    expect(events[0]).toStrictEqual({ action: 'construct', length: 3, ts: expect.any(Number) as number, source, caller: 'mail' });
    expect(events.at(-1)).not.toHaveProperty('caller');
    const plain = accesses();
    SecretValue.fromString('z');
    expect(plain).toStrictEqual([{ action: 'construct', length: 1, ts: expect.any(Number) as number }]);
  });
});

describe('6.4 withSecret', () => {
  const scopes = (): WithSecretAuditEvent[] => {
    const events: WithSecretAuditEvent[] = [];
    onWithSecretAudit((event) => events.push(event));
    return events;
  };

  it('wraps a text, returns what fn returns, reports once and disposes its wrapper after that', async () => {
    const order: string[] = [];
    onSecretValueAudit(({ action }) => order.push(action));
    onWithSecretAudit(({ action }) => order.push(action));
    const events = scopes();
    expect(await withSecret('raw', async (raw) => `${raw}!`)).toBe('raw!');
    expect(order).toEqual(['construct', 'use', 'with-secret', 'dispose']);
    expect(events).toStrictEqual([
      { action: 'with-secret', scopeId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string, durationMs: expect.any(Number) as number, ts: expect.any(Number) as number },
    ]);
  });

  it('a value stays the caller’s', async () => {
    const secret = SecretValue.fromString('raw');
    await withSecret(secret, () => 0);
    expect(secret.disposed).toBe(false);
  });

  it('caller: the option, else the tool; scope id on the use event, tool name on the construct event', async () => {
    const values = accesses();
    const events = scopes();
    await withToolSecretsContext({ toolName: 'mail', secretsAllowed: [] }, async () => {
      await withSecret('a', () => 0);
      await withSecret('b', () => 0, { caller: 'login' });
    });
    expect(events.map(({ caller, toolName }) => [caller, toolName])).toEqual([['mail', 'mail'], ['login', 'mail']]);
    const [construct, use] = values.filter((_, at) => at >= 3);
    expect(construct).toMatchObject({ action: 'construct', caller: 'mail', source: { resolver: 'inline', ref: 'inline:withSecret' } });
    expect(construct).not.toHaveProperty('scopeId');
    expect(use).toMatchObject({ action: 'use', caller: 'login', scopeId: events[1]?.scopeId });
  });

  it('errors pass through unchanged, after the event; listener errors are ignored', async () => {
    const events = scopes();
    onWithSecretAudit(() => { throw new Error('listener'); });
    const thrown = { not: 'an error' };
    await expect(withSecret('x', () => { throw thrown; })).rejects.toBe(thrown);
    expect(events).toHaveLength(1);
  });

  it('two scopes in flight keep their ids apart', async () => {
    const events = accesses();
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const inner = SecretValue.fromString('i');
    await Promise.all(['a', 'b'].map((caller, at) => withSecret(caller, async () => { await wait(2 - at); inner.reveal(); }, { caller })));
    const reveals = events.filter(({ action }) => action === 'reveal');
    expect(reveals.map(({ caller }) => caller).sort()).toEqual(['a', 'b']);
    expect(new Set(reveals.map(({ scopeId }) => scopeId)).size).toBe(2);
    vi.restoreAllMocks();
  });
});
