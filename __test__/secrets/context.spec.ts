import { EventEmitter } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import {
  GraphorinSecretsError,
  SecretAccessDeniedError,
  SecretRequiredError,
  _getSecretsAuditListenerCountForTesting,
  _resetSecretsAuditListenersForTesting,
  computeEffectiveAllowlist,
  emitSecretsAudit,
  enforceSecretAcl,
  getActiveToolSecretsContext,
  onSecretsAudit,
  withChildToolSecretsContext,
  withToolSecretsContext,
  type SecretsAuditEvent,
} from 'ferrule/secrets';
import { activeActor, denyToolSecret, isSecretAllowed, outsideToolScope } from '../../js/secrets/context.js';

afterEach(() => _resetSecretsAuditListenersForTesting());

const scope = (toolName: string, ...secretsAllowed: string[]) => ({ toolName, secretsAllowed });

describe('6.1 scopes', () => {
  it('outside every scope nothing is restricted', () => {
    expect(getActiveToolSecretsContext()).toBeUndefined();
    expect(enforceSecretAcl('ANY')).toBeUndefined();
    expect(isSecretAllowed('ANY')).toBe(true);
  });

  it('freezes the very object passed and shows it', () => {
    const ctx = scope('a', 'K');
    withToolSecretsContext(ctx, () => expect(getActiveToolSecretsContext()).toBe(ctx));
    expect(Object.isFrozen(ctx)).toBe(true);
    expect(getActiveToolSecretsContext()).toBeUndefined();
  });

  it('returns what fn returns: a value, that very promise, a synchronous throw', () => {
    const promise = Promise.resolve(1);
    expect(withToolSecretsContext(scope('a'), () => 5)).toBe(5);
    expect(withToolSecretsContext(scope('a'), () => promise)).toBe(promise);
    expect(withChildToolSecretsContext(scope('a'), () => promise)).toBe(promise);
    expect(() =>
      withToolSecretsContext(scope('a'), () => {
        throw new RangeError('boom');
      }),
    ).toThrow(RangeError);
    expect(getActiveToolSecretsContext()).toBeUndefined();
  });

  it('follows awaits, timers and event handlers', async () => {
    const emitter = new EventEmitter();
    const seen: (string | undefined)[] = [];
    const note = () => seen.push(getActiveToolSecretsContext()?.toolName);
    await withToolSecretsContext(scope('inner'), async () => {
      emitter.on('x', note);
      await Promise.resolve();
      note();
      await new Promise((resolve) => setTimeout(resolve, 1));
      note();
      emitter.emit('x');
    });
    expect(seen).toEqual(['inner', 'inner', 'inner']);
  });

  it('two calls in flight never see each other (9.1)', async () => {
    const run = (name: string, ms: number) =>
      withChildToolSecretsContext(scope(name, name), async () => {
        await new Promise((resolve) => setTimeout(resolve, ms));
        return getActiveToolSecretsContext()?.toolName;
      });
    expect(await Promise.all([run('a', 3), run('b', 1), run('c', 2)])).toEqual(['a', 'b', 'c']);
  });

  it('a child is frozen, has a parent only when one is active, and may read less, never more', () => {
    withChildToolSecretsContext(scope('outer', 'A', 'B'), () => {
      const outer = getActiveToolSecretsContext();
      expect(Object.isFrozen(outer)).toBe(true);
      expect(outer).not.toHaveProperty('parent');
      withChildToolSecretsContext(scope('inner', 'C', 'B', 'B'), () => {
        const inner = getActiveToolSecretsContext();
        expect(inner).toEqual({ toolName: 'inner', secretsAllowed: ['B'], parent: outer });
        expect(() => enforceSecretAcl('A')).toThrow(SecretAccessDeniedError);
        expect(() => enforceSecretAcl('C')).toThrow(SecretAccessDeniedError);
        expect(enforceSecretAcl('B')).toBeUndefined();
      });
      expect(enforceSecretAcl('A')).toBeUndefined();
    });
  });

  it('ids that are undefined leave no key behind', () => {
    const child = { ...scope('t'), runId: 'r', agentId: undefined } as unknown as Parameters<
      typeof withChildToolSecretsContext
    >[0];
    withChildToolSecretsContext(child, () => {
      expect(Object.keys(getActiveToolSecretsContext() ?? {})).toEqual(['toolName', 'runId', 'secretsAllowed']);
    });
  });

  it('a list changed after the scope opened widens nothing', () => {
    const list = ['A'];
    withToolSecretsContext({ toolName: 't', secretsAllowed: list }, () => {
      list.push('B');
      expect(() => enforceSecretAcl('B')).toThrow(SecretAccessDeniedError);
    });
  });

  it.each([
    [undefined, ['b', 'a', 'b'], ['b', 'a']],
    [scope('p', 'a'), ['b', 'a', 'b'], ['a']],
    [scope('p'), ['a'], []],
    [scope('p', 'a'), [], []],
  ])('computeEffectiveAllowlist(%j, %j)', (parent, declared, expected) => {
    const list = computeEffectiveAllowlist(parent, declared);
    expect(list).toEqual(expected);
    expect(Object.isFrozen(list)).toBe(true);
  });

  it.each([
    [['K'], 'K', true],
    [['K'], 'k', false],
    [['K'], 'K ', false],
    [['K*'], 'KA', false],
    [[], 'K', false],
  ])('a list %j and key %j: allowed is %s', (list, key, allowed) => {
    withToolSecretsContext(scope('t', ...list), () => {
      expect(isSecretAllowed(key)).toBe(allowed);
      if (allowed) expect(enforceSecretAcl(key)).toBeUndefined();
      else expect(() => enforceSecretAcl(key)).toThrow(SecretAccessDeniedError);
    });
  });
});

describe('6.1 errors', () => {
  it('SecretAccessDeniedError', () => {
    const list = ['A'];
    const error = new SecretAccessDeniedError('K', 'mail', list);
    expect(error).toBeInstanceOf(GraphorinSecretsError);
    expect(error).toMatchObject({
      name: 'SecretAccessDeniedError',
      kind: 'secret-access-denied',
      key: 'K',
      toolName: 'mail',
      allowedSet: ['A'],
      message: "Tool 'mail' is not allowed to access secret 'K' (missing from secretsAllowed).",
      hint: "Add 'K' to the tool's secretsAllowed list, or rotate the secret behind a different key.",
    });
    list.push('K');
    expect(error.allowedSet).toEqual(['A']);
    expect(Object.isFrozen(error.allowedSet)).toBe(true);
    expect('cause' in error).toBe(false);
  });

  it('SecretRequiredError names the key in message and hint', () => {
    const error = new SecretRequiredError('DB');
    expect(error.kind).toBe('secret-required');
    expect(error.key).toBe('DB');
    expect(error.message).toContain('DB');
    expect(error.hint).toContain('DB');
  });

  it('0: hint and cause are own only when given; the name is the concrete class', () => {
    class Mine extends GraphorinSecretsError {}
    const bare = new Mine('k', 'm');
    expect(bare.name).toBe('Mine');
    expect(Object.hasOwn(bare, 'hint')).toBe(false);
    expect(Object.hasOwn(bare, 'cause')).toBe(false);
    const cause = { a: 1 };
    const full = new Mine('k', 'm', { cause, hint: 'h' });
    expect(full.cause).toBe(cause);
    expect(full.hint).toBe('h');
  });
});

describe('6.5 bus', () => {
  const row = (): SecretsAuditEvent => ({
    action: 'secret:get',
    decision: 'success',
    ts: 1,
    source: 's',
    target: 't',
  });

  it('delivers synchronously, in order, the object itself, and isolates failures', async () => {
    const heard: unknown[] = [];
    onSecretsAudit(() => {
      throw new Error('first');
    });
    onSecretsAudit((async () => {
      throw new Error('late');
    }) as never);
    onSecretsAudit((event) => heard.push(event));
    const event = row();
    emitSecretsAudit(event);
    expect(heard).toEqual([event]);
    expect(heard[0]).toBe(event);
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('counts distinct listeners; unsubscribing and resetting work', () => {
    const listener = () => undefined;
    const stop = onSecretsAudit(listener);
    onSecretsAudit(listener);
    expect(_getSecretsAuditListenerCountForTesting()).toBe(1);
    onSecretsAudit(() => undefined);
    expect(_getSecretsAuditListenerCountForTesting()).toBe(2);
    stop();
    expect(_getSecretsAuditListenerCountForTesting()).toBe(1);
    _resetSecretsAuditListenersForTesting();
    expect(_getSecretsAuditListenerCountForTesting()).toBe(0);
    expect(() => emitSecretsAudit(row())).not.toThrow();
  });
});

describe('6.2 the check behind ctx.secrets', () => {
  const denials = (fn: () => unknown) => {
    const rows: SecretsAuditEvent[] = [];
    const stop = onSecretsAudit((event) => rows.push(event));
    const result = fn();
    stop();
    return { rows, result };
  };

  it('one denied row with the ids of the active scope, then the error', () => {
    const { rows, result } = denials(() =>
      withChildToolSecretsContext(
        { toolName: 't', runId: 'r', sessionId: 's', agentId: 'a', secretsAllowed: ['OTHER'] },
        () => denyToolSecret('KEY'),
      ),
    );
    expect(result).toBeInstanceOf(SecretAccessDeniedError);
    expect(rows).toEqual([
      {
        action: 'secret:get',
        decision: 'denied',
        source: 'tool-acl',
        target: 'KEY',
        ts: expect.any(Number) as number,
        actor: { kind: 'tool', toolName: 't', runId: 'r', sessionId: 's', id: 'a' },
      },
    ]);
  });

  it('an actor without ids has exactly kind and toolName', () => {
    const { rows } = denials(() => withToolSecretsContext(scope('t'), () => denyToolSecret('K')));
    expect(rows[0]?.actor).toStrictEqual({ kind: 'tool', toolName: 't' });
    expect(activeActor()).toBeUndefined();
  });

  it('an accessor is bound to its own tool as well (holes a and b)', () => {
    const owner = scope('mine', 'A');
    expect(denyToolSecret('A', owner)).toBeUndefined();
    const outside = denials(() => denyToolSecret('B', owner));
    expect(outside.result).toMatchObject({ toolName: 'mine', allowedSet: ['A'] });
    expect(outside.rows).toHaveLength(1);
    const leaked = denials(() => withToolSecretsContext(scope('other', 'B'), () => denyToolSecret('B', owner)));
    expect(leaked.result).toMatchObject({ toolName: 'mine' });
    const borrowed = denials(() => withToolSecretsContext(scope('other', 'B'), () => denyToolSecret('A', owner)));
    expect(borrowed.result).toMatchObject({ toolName: 'other' });
    expect(borrowed.rows).toHaveLength(1);
  });
});

describe('03 6.4 bridged calls leave the meta tool’s own scope', () => {
  const inner = () => withChildToolSecretsContext(scope('mail', 'SMTP'), () => isSecretAllowed('SMTP'));

  it('without it the empty list starves the inner tool; with it the inner tool keeps its secrets', () => {
    withChildToolSecretsContext(scope('code_execute'), () => {
      expect(inner()).toBe(false);
      expect(outsideToolScope(inner, 'code_execute')).toBe(true);
      expect(getActiveToolSecretsContext()?.toolName).toBe('code_execute');
    });
  });

  it('keeps the scope around the meta tool', () => {
    withChildToolSecretsContext(scope('agentTool', 'OTHER'), () => {
      withChildToolSecretsContext(scope('code_execute'), () => {
        outsideToolScope(() => {
          expect(getActiveToolSecretsContext()?.toolName).toBe('agentTool');
          expect(inner()).toBe(false);
        }, 'code_execute');
      });
    });
  });

  it('leaves no scope but the named tool’s, and none where there is none', () => {
    withChildToolSecretsContext(scope('somebody'), () => {
      expect(outsideToolScope(inner, 'code_execute')).toBe(false);
    });
    expect(outsideToolScope(() => getActiveToolSecretsContext(), 'code_execute')).toBeUndefined();
  });

  it('works when the surrounding scope was opened without a parent field', () => {
    withToolSecretsContext(scope('host', 'SMTP'), () => {
      withToolSecretsContext(scope('code_execute'), () => {
        expect(outsideToolScope(() => getActiveToolSecretsContext()?.toolName, 'code_execute')).toBe('host');
      });
    });
  });
});
