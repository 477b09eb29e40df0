/**
 * Rules belong to the caller, who may change them whenever he likes (4.3: a decision is a function of
 * the policy as it is). What the engine remembers of a list must never be seen.
 */
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { onToolAudit, type ToolAuditEvent } from 'ferrule/audit';
import {
  evaluatePermissionDecision,
  evaluateToolArgumentPolicy,
  explainPermissionDecision,
  isToolDeniedByName,
  type PermissionDecision,
  type ToolArgumentPolicy,
  type ToolArgumentRule,
  type ToolCallFacts,
} from 'ferrule/policy';

type Loose = { -readonly [K in keyof ToolArgumentRule]: ToolArgumentRule[K] };
const facts: ToolCallFacts = { toolName: 'mail.send', sideEffectClass: 'external-stateful' };
const effectOf = (policy: ToolArgumentPolicy) => evaluatePermissionDecision(policy, facts).effect;

describe('a rule that changes after a decision', () => {
  it('its effect, its tool, its predicate and its reason are those of now', () => {
    const rule: Loose = { effect: 'allow', tool: '*' };
    const policy = { rules: [rule] };
    expect(effectOf(policy)).toBe('allow');
    rule.effect = 'deny';
    rule.reason = 'changed';
    expect(evaluatePermissionDecision(policy, facts)).toStrictEqual({ effect: 'deny', reason: 'changed' });
    expect(isToolDeniedByName(policy, 'mail.send')).toStrictEqual({ denied: true, reason: 'changed' });
    rule.when = () => false;
    expect(effectOf(policy)).toBe('allow');
    expect(isToolDeniedByName(policy, 'mail.send').denied).toBe(false);
    delete rule.when;
    rule.tool = 'calendar.*';
    expect(effectOf(policy)).toBe('allow');
    expect(isToolDeniedByName(policy, 'mail.send').denied).toBe(false);
  });

  it('rules that come, go and change places', () => {
    const rules: Loose[] = [];
    const policy = { rules };
    expect(effectOf(policy)).toBe('allow');
    rules.push({ effect: 'ask', tool: '*', reason: 'one' });
    expect(effectOf(policy)).toBe('ask');
    rules.unshift({ effect: 'ask', tool: 'mail.*', reason: 'two' });
    expect(explainPermissionDecision(policy, facts)).toMatchObject({ ruleIndex: 0, decision: { reason: 'two' } });
    rules.reverse();
    expect(explainPermissionDecision(policy, facts)).toMatchObject({ ruleIndex: 0, decision: { reason: 'one' } });
    rules.length = 0;
    expect(effectOf(policy)).toBe('allow');
  });

  it('another list with the same rules, and another policy with the same list', () => {
    const rules: ToolArgumentRule[] = [{ effect: 'allow', tool: 'x' }];
    expect(effectOf({ rules, defaultDenySensitive: true })).toBe('allow');
    expect(evaluatePermissionDecision({ rules, defaultDenySensitive: true }, { ...facts, sensitive: true }).effect).toBe('deny');
    expect(effectOf({ rules: [...rules, { effect: 'deny', tool: 'mail.send' }] })).toBe('deny');
    expect(effectOf({ rules })).toBe('allow');
  });
});

describe('a rule that changes while the decision is made', () => {
  it('a predicate adds a rule: it is walked, too', () => {
    const rules: Loose[] = [];
    rules.push({ effect: 'allow', tool: '*', when: () => rules.push({ effect: 'deny', tool: 'mail.*', reason: 'added' }) < 9 });
    expect(evaluatePermissionDecision({ rules }, facts)).toStrictEqual({ effect: 'deny', reason: 'added' });
  });

  it('a predicate changes a later rule', () => {
    const asked = vi.fn(() => true);
    const later: Loose = { effect: 'allow', tool: 'other', when: asked };
    const first: Loose = {
      effect: 'ask',
      tool: '*',
      when: () => {
        later.tool = 'mail.*';
        later.effect = 'defer';
        return true;
      },
    };
    expect(explainPermissionDecision({ rules: [first, later] }, facts)).toMatchObject({ ruleIndex: 1, decision: { effect: 'defer' } });
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('a predicate takes the rest away', () => {
    const rules: Loose[] = [
      { effect: 'ask', tool: '*', when: (): boolean => (rules.length = 1) === 1 },
      { effect: 'deny', tool: '*' },
    ];
    expect(effectOf({ rules })).toBe('ask');
  });

  it('a predicate changes the facts: the default looks at them last', () => {
    const mine = { ...facts, sensitive: false };
    const rules: ToolArgumentRule[] = [{ effect: 'allow', tool: '*', when: () => !(mine.sensitive = true) }];
    expect(evaluatePermissionDecision({ rules, defaultDenySensitive: true }, mine).effect).toBe('deny');
  });

  it('a predicate decides about another call by the same policy', () => {
    const policy: ToolArgumentPolicy = {
      rules: [
        { effect: 'deny', tool: 'mail.*', when: () => evaluatePermissionDecision(policy, { ...facts, toolName: 'web.get' }).effect === 'ask' },
        { effect: 'ask', tool: 'web.*' },
        { effect: 'allow', tool: '*' },
      ],
    };
    expect(effectOf(policy)).toBe('deny');
  });
});

describe('rules that are none', () => {
  it('a tool that is no text is refused with an error that names the rule, when the walk reaches it', () => {
    const odd = { effect: 'deny', tool: ['mail.send'] } as unknown as ToolArgumentRule;
    expect(() => effectOf({ rules: [{ effect: 'ask', tool: '*' }, odd] })).toThrow(/^Rule 1 .*'tool'/);
    expect(() => isToolDeniedByName({ rules: [odd] }, 'mail.send')).toThrow(TypeError);
    expect(effectOf({ rules: [{ effect: 'deny', tool: '*' }, odd] })).toBe('deny');
  });

  it('an effect that is no text denies', () => {
    const odd = { effect: ['allow'], tool: '*' } as unknown as ToolArgumentRule;
    expect(explainPermissionDecision({ rules: [odd] }, facts).cause).toBe('unknown-effect');
  });

  it('names that differ in lone surrogates only are two names', () => {
    const rules: ToolArgumentRule[] = [{ effect: 'deny', tool: '\ud800' }];
    const decide = (toolName: string) => evaluatePermissionDecision({ rules }, { ...facts, toolName }).effect;
    expect(['\ud800', '\ud801', '\ufffd'].map(decide)).toEqual(['deny', 'allow', 'allow']);
  });
});

describe('better: a rule that cannot be judged is reported', () => {
  const odd: [string, object][] = [
    ['predicate-threw', { when: () => { throw new RangeError('x'); } }],
    ['predicate-not-boolean', { when: async () => false }],
    ['unknown-effect', { effect: 'maybe' }],
  ];
  it.each(odd)('%s: one audit row, whichever function decides; explaining reports nothing', (kind, odd) => {
    const rows: ToolAuditEvent[] = [];
    const stop = onToolAudit((row) => rows.push(row));
    const policy = { rules: [{ effect: 'allow', tool: '*', ...odd } as unknown as ToolArgumentRule] };
    explainPermissionDecision(policy, facts);
    expect(rows).toEqual([]);
    expect(evaluatePermissionDecision(policy, facts).effect).toBe('deny');
    expect(evaluateToolArgumentPolicy(policy, facts).effect).toBe('forbid');
    stop();
    const row = { action: 'tool:execute:error', target: 'mail.send', decision: 'denied', metadata: { kind, ruleIndex: 0 } };
    expect(rows).toMatchObject([row, row]);
  });
});

describe('4.3 against the definition', () => {
  /** Section 4.3, word by word. */
  function defined(rules: readonly ToolArgumentRule[], name: string): PermissionDecision['effect'] {
    const strength = ['allow', 'ask', 'defer'];
    let best = -1;
    for (const { effect, tool, when } of rules) {
      if (!(tool.endsWith('*') ? name.startsWith(tool.slice(0, -1)) : tool === name)) continue;
      if (when !== undefined && !when(facts)) continue;
      if (!strength.includes(effect)) return 'deny';
      best = Math.max(best, strength.indexOf(effect));
    }
    return (['allow', 'ask', 'defer'] as const)[Math.max(best, 0)]!;
  }

  it('the same decisions, and the same predicates asked in the same order, over changing policies', () => {
    const tool = fc.constantFrom('*', 'a*', 'ab*', 'ab', 'b', '**', '', 'a*b');
    const effect = fc.constantFrom('allow', 'ask', 'defer', 'deny', 'forbid', 'odd');
    const made = fc.record({ tool, effect, says: fc.constantFrom(true, false, undefined) });
    const change = fc.tuple(fc.nat(7), made);
    fc.assert(
      fc.property(fc.array(made, { maxLength: 8 }), fc.array(change, { maxLength: 4 }), fc.constantFrom('a', 'ab', 'b', '*', 'a*b', ''), (list, changes, name) => {
        let asked: number[] = [];
        const build = ({ tool, effect, says }: typeof list[number], at: number): Loose => ({
          tool,
          effect: effect as Loose['effect'],
          ...(says !== undefined && { when: () => (asked.push(at), says) }),
        });
        const rules = list.map(build);
        const check = () => {
          asked = [];
          const wanted = defined(rules, name);
          const expected = asked;
          asked = [];
          const { decision, rule, ruleIndex } = explainPermissionDecision({ rules }, { ...facts, toolName: name });
          expect(decision.effect).toBe(wanted);
          expect(asked).toEqual(expected);
          if (ruleIndex !== undefined) expect(rule).toBe(rules[ruleIndex]);
        };
        check();
        for (const [at, other] of changes) {
          if (at < rules.length) rules[at] = build(other, at);
          else rules.push(build(other, rules.length));
          check();
        }
      }),
      { numRuns: 300 },
    );
  });
});
