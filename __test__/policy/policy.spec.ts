import { describe, expect, it, vi } from 'vitest';
import { onToolAudit } from 'ferrule/audit';
import {
  buildRuleOfTwoPolicy,
  evaluatePermissionDecision,
  evaluateToolArgumentPolicy,
  explainPermissionDecision,
  isToolDeniedByName,
  type ToolArgumentRule,
  type ToolCallFacts,
  type ToolRuleEffect,
} from 'ferrule/policy';

const facts: ToolCallFacts = { toolName: 'mail.send', sideEffectClass: 'external-stateful' };
const rule = (effect: ToolRuleEffect, more: Partial<ToolArgumentRule> = {}): ToolArgumentRule => ({
  effect,
  tool: '*',
  reason: `${effect}-reason`,
  ...more,
});
const decide = (...rules: ToolArgumentRule[]) => evaluatePermissionDecision({ rules }, facts);
const allow = { effect: 'allow' };

describe('4.2 names', () => {
  it.each([
    ['*', true],
    ['mail.*', true],
    ['mail.send*', true],
    ['mail.send', true],
    ['Mail.send', false],
    ['mail', false],
    ['mail.send.x*', false],
    ['m*send', false],
    ['*send', false],
    ['', false],
    ['**', false],
  ])('%j matches mail.send: %s', (tool, matches) => {
    const expected = matches ? { effect: 'deny', reason: 'deny-reason' } : allow;
    expect(decide(rule('deny', { tool }))).toStrictEqual(expected);
    expect(isToolDeniedByName({ rules: [rule('deny', { tool })] }, 'mail.send').denied).toBe(matches);
  });

  it('a pattern that ends in a star is a prefix of what is before it', () => {
    const policy = { rules: [rule('deny', { tool: '**' })] };
    expect(isToolDeniedByName(policy, '*x').denied).toBe(true);
    expect(isToolDeniedByName({ rules: [rule('deny', { tool: 'a*b' })] }, 'a*b').denied).toBe(true);
  });
});

describe('4.2 predicates', () => {
  it('get the very facts, alone, as methods, once, only when the name matches', () => {
    const when = vi.fn(function (this: unknown) {
      return true;
    });
    const matching = rule('ask', { when });
    decide(matching, rule('ask', { tool: 'other', when: () => expect.unreachable() as never }));
    expect(when.mock.calls).toEqual([[facts]]);
    expect(when.mock.calls[0]?.at(0)).toBe(facts);
    expect(when.mock.contexts[0]).toBe(matching);
  });

  it('any truthy value matches, any falsy one does not', () => {
    for (const value of [true, 1, 'x', {}]) expect(decide(rule('deny', { when: () => value as boolean })).effect).toBe('deny');
    for (const value of [false, 0, '', null, undefined, NaN]) expect(decide(rule('deny', { when: () => value as boolean }))).toStrictEqual(allow);
  });

  it.each(['allow', 'ask', 'defer', 'deny', 'forbid'] as const)('better: a throw in a %s rule denies, naming the rule, with an audit row', (effect) => {
    const boom = new RangeError('boom with arguments');
    const broken = rule(effect, { when: () => { throw boom; }, reason: 'big transfers' });
    const rows: unknown[] = [];
    const stop = onToolAudit((row) => rows.push(row));
    const decision = decide(rule('allow'), broken, rule('allow'));
    stop();
    expect(decision).toStrictEqual({ effect: 'deny', reason: expect.stringMatching(/mail\.send.*rule 1.*big transfers.*threw/) as string });
    expect(rows).toMatchObject([{ target: 'mail.send', decision: 'denied', metadata: { kind: 'predicate-threw', ruleIndex: 1, error: 'RangeError' } }]);
    expect(explainPermissionDecision({ rules: [broken] }, facts)).toMatchObject({ rule: broken, cause: 'predicate-threw', error: boom });
  });

  it('better: an async predicate denies, whatever it would answer, and its rejection is observed', async () => {
    const thenable = Object.fromEntries([['then', () => undefined]]);
    for (const answer of [Promise.resolve(false), Promise.reject(new Error('late')), thenable]) {
      const decision = decide(rule('allow', { when: () => answer as never }));
      expect(decision).toStrictEqual({ effect: 'deny', reason: expect.stringMatching(/rule 0.*async/) as string });
    }
    await new Promise((resolve) => setImmediate(resolve));
  });
});

describe('4.3 evaluation', () => {
  const cases: [string, ToolRuleEffect[], object][] = [
    ['nothing', [], allow],
    ['allow', ['allow'], allow],
    ['ask', ['ask'], { effect: 'ask', reason: 'ask-reason' }],
    ['defer', ['defer'], { effect: 'defer', reason: 'defer-reason' }],
    ['deny', ['deny'], { effect: 'deny', reason: 'deny-reason' }],
    ['forbid is deny', ['forbid'], { effect: 'deny', reason: 'forbid-reason' }],
    ['a later allow never re-opens', ['ask', 'allow'], { effect: 'ask', reason: 'ask-reason' }],
    ['ask over allow', ['allow', 'ask'], { effect: 'ask', reason: 'ask-reason' }],
    ['defer over ask', ['ask', 'defer', 'ask'], { effect: 'defer', reason: 'defer-reason' }],
    ['deny over all', ['allow', 'defer', 'deny', 'forbid'], { effect: 'deny', reason: 'deny-reason' }],
  ];

  it.each(cases)('%s', (_name, effects, expected) => {
    const rules = effects.map((effect) => rule(effect));
    expect(decide(...rules)).toStrictEqual(expected);
    const binary = expected === allow ? allow : { effect: 'forbid', reason: (expected as { reason: string }).reason };
    expect(evaluateToolArgumentPolicy({ rules }, facts)).toStrictEqual(binary);
  });

  it('among equals the first reason stays', () => {
    expect(decide(rule('ask', { reason: 'one' }), rule('ask', { reason: 'two' }))).toStrictEqual({ effect: 'ask', reason: 'one' });
  });

  it('default-deny of sensitive tools, and what lifts it', () => {
    const evaluate = (rules: ToolArgumentRule[], sensitive?: boolean, defaultDenySensitive?: boolean) =>
      evaluatePermissionDecision(
        { rules, ...(defaultDenySensitive !== undefined && { defaultDenySensitive }) },
        { ...facts, ...(sensitive !== undefined && { sensitive }) },
      );
    expect(evaluate([], true, true)).toStrictEqual({
      effect: 'deny',
      reason: "sensitive tool 'mail.send' has no explicit allow rule (default-deny)",
    });
    expect(evaluate([rule('allow')], true, true)).toStrictEqual(allow);
    expect(evaluate([rule('ask')], true, true)).toStrictEqual({ effect: 'ask', reason: 'ask-reason' });
    expect(evaluate([rule('allow', { tool: 'other' })], true, true).effect).toBe('deny');
    for (const [sensitive, byDefault] of [[false, true], [undefined, true], [true, false], [true, undefined], [1, true]] as [boolean, boolean][]) {
      expect(evaluate([], sensitive, byDefault)).toStrictEqual(allow);
    }
  });

  it('default reasons name the tool', () => {
    const bare = (effect: ToolRuleEffect) => (decide({ effect, tool: '*' }) as { reason: string }).reason;
    expect(bare('deny')).toBe("tool 'mail.send' is denied by policy");
    expect(bare('forbid')).toBe("tool 'mail.send' is denied by policy");
    expect(bare('ask')).toBe("tool 'mail.send' requires an interactive approval by policy");
    expect(bare('defer')).toBe("tool 'mail.send' requires a deferred approval by policy");
    expect(isToolDeniedByName({ rules: [{ effect: 'deny', tool: '*' }] }, 'x')).toStrictEqual({
      denied: true,
      reason: "tool 'x' is denied by name by policy",
    });
  });

  it('better: an unknown effect is counted as deny, wherever it stands', () => {
    const odd = rule('maybe' as ToolRuleEffect);
    for (const rules of [[odd], [rule('allow'), odd], [odd, rule('ask')]]) {
      expect(decide(...rules)).toStrictEqual({ effect: 'deny', reason: expect.stringMatching(/unknown effect/) as string });
    }
    expect(decide(rule('allow'), { ...odd, tool: 'other' })).toStrictEqual(allow);
  });

  it('isToolDeniedByName: only plain denials count', () => {
    const denied = (...rules: ToolArgumentRule[]) => isToolDeniedByName({ rules, defaultDenySensitive: true }, 'mail.send');
    for (const effect of ['allow', 'ask', 'defer'] as const) expect(denied(rule(effect))).toStrictEqual({ denied: false });
    expect(denied(rule('deny', { when: () => true }))).toStrictEqual({ denied: false });
    expect(denied(rule('allow'), rule('forbid'), rule('deny'))).toStrictEqual({ denied: true, reason: 'forbid-reason' });
  });

  it('better: a decision explains itself', () => {
    const rules = [rule('allow'), rule('ask'), rule('defer', { tool: 'x' })];
    const explained = explainPermissionDecision({ rules }, facts);
    expect(explained).toStrictEqual({ decision: { effect: 'ask', reason: 'ask-reason' }, rule: rules[1], ruleIndex: 1, cause: 'rule' });
    expect(explained.rule).toBe(rules[1]);
    expect(explainPermissionDecision({ rules: [] }, facts)).toStrictEqual({ decision: allow, cause: 'no-match' });
    expect(explainPermissionDecision({ rules: [], defaultDenySensitive: true }, { ...facts, sensitive: true }).cause).toBe('default-deny');
  });
});

describe('4.4 rule of two', () => {
  const profiles = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => ({
    untrustedInput: (bits & 1) !== 0,
    sensitiveData: (bits & 2) !== 0,
    externalSideEffects: (bits & 4) !== 0,
  }));

  it.each(profiles)('%j', (profile) => {
    const { policy, heldLegs, holdsFullTrifecta, ...more } = buildRuleOfTwoPolicy(profile);
    expect(heldLegs).toEqual([
      ...(profile.untrustedInput ? ['untrusted-input'] : []),
      ...(profile.sensitiveData ? ['sensitive-data'] : []),
      ...(profile.externalSideEffects ? ['external-side-effects'] : []),
    ]);
    expect(holdsFullTrifecta).toBe(heldLegs.length === 3);
    expect(more).toStrictEqual(profile.externalSideEffects ? {} : { capability: 'read-only' });
    expect(policy.defaultDenySensitive).toBe(!profile.sensitiveData);
    const effect = (extra: object) =>
      evaluateToolArgumentPolicy(policy, { toolName: 't', sideEffectClass: 'read-only', ...extra }).effect;
    for (const sideEffectClass of ['side-effecting', 'external-stateful']) {
      expect(effect({ sideEffectClass })).toBe(profile.externalSideEffects ? 'allow' : 'forbid');
    }
    expect(effect({ sideEffectClass: 'pure' })).toBe('allow');
    expect(effect({ untrustedSource: true })).toBe(profile.untrustedInput ? 'allow' : 'forbid');
    expect(effect({ untrustedSource: 1 })).toBe('allow');
    expect(effect({ sensitive: true })).toBe(profile.sensitiveData ? 'allow' : 'forbid');
  });

  it('composes: rules are plain, and a denial of the profile beats an allow that follows', () => {
    const { policy } = buildRuleOfTwoPolicy({ untrustedInput: false, sensitiveData: true, externalSideEffects: false });
    expect(Array.isArray(policy.rules)).toBe(true);
    expect(Object.isFrozen(policy.rules)).toBe(false);
    const [, untrusted] = policy.rules;
    expect(untrusted?.reason).toContain('untrusted input');
    const larger = { rules: [...policy.rules, rule('allow', { tool: 'mail.*' })] };
    expect(evaluateToolArgumentPolicy(larger, facts).effect).toBe('forbid');
    expect(evaluateToolArgumentPolicy(larger, { ...facts, sideEffectClass: 'read-only' })).toStrictEqual(allow);
  });
});
