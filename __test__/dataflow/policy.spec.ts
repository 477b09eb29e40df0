import { describe, expect, it } from 'vitest';
import {
  createDataFlowPolicy,
  deriveTaintLabel,
  isUntrustedTrustClass,
  type DataFlowEvaluation,
  type DataFlowMode,
} from 'ferrule/dataflow';
import type { SideEffectClass, ToolTrustClass } from 'ferrule/core';

describe('2.2 labels', () => {
  const classes: [ToolTrustClass, boolean][] = [
    ['skill-untrusted', true],
    ['mcp-derived', true],
    ['web-search', true],
    ['channel-inbound', true],
    ['first-party-built-in', false],
    ['first-party-user-defined', false],
    ['skill-trusted', false],
  ];

  it.each(classes)('%s: untrusted is %s', (trustClass, untrusted) => {
    expect(isUntrustedTrustClass(trustClass)).toBe(untrusted);
    expect(deriveTaintLabel({ trustClass }).untrusted).toBe(untrusted);
  });

  it('goes straight into filter; unknown and inherited names are trusted', () => {
    expect(classes.map(([trustClass]) => trustClass).filter(isUntrustedTrustClass)).toHaveLength(4);
    expect(isUntrustedTrustClass('constructor' as ToolTrustClass)).toBe(false);
  });

  it.each([
    [{ trustClass: 'mcp-derived' }, ['unknown', 'unknown', true, false]],
    [{ trustClass: 'mcp-derived', source: { kind: 'mcp' }, sensitivity: 'secret' }, ['mcp', 'secret', true, true]],
    [{ trustClass: 'skill-trusted', sensitivity: 'internal' }, ['unknown', 'internal', false, false]],
    [
      { trustClass: 'skill-trusted', sensitivity: 'internal', sensitiveTiers: ['internal', 'secret'] },
      ['unknown', 'internal', false, true],
    ],
    [{ trustClass: 'skill-trusted', sensitivity: 'secret', sensitiveTiers: [] }, ['unknown', 'secret', false, false]],
  ] as const)('%j', (input, [sourceKind, sensitivity, untrusted, sensitive]) => {
    const label = deriveTaintLabel(input as Parameters<typeof deriveTaintLabel>[0]);
    expect(label).toStrictEqual({ trustClass: input.trustClass, sourceKind, sensitivity, untrusted, sensitive });
    expect(Object.isFrozen(label)).toBe(false);
  });
});

describe('2.4 decisions', () => {
  const base: DataFlowEvaluation = {
    toolName: 'send_email',
    sideEffectClass: 'external-stateful',
    carriesUntrustedVerbatim: false,
    untrustedSeen: false,
    sensitiveSeen: false,
    sourceKinds: ['web-search', 'mcp'],
  };
  const verbatim = { ...base, carriesUntrustedVerbatim: true, untrustedSeen: true };
  const trifecta = { ...base, untrustedSeen: true, sensitiveSeen: true };
  const untrusted = { ...base, untrustedSeen: true };
  const sensitive = { ...base, sensitiveSeen: true };

  const rows: [string, DataFlowEvaluation, object, string | undefined][] = [
    ['no taint', base, {}, undefined],
    ['one leg: untrusted', untrusted, {}, undefined],
    ['one leg: sensitive', sensitive, {}, undefined],
    ['verbatim', verbatim, {}, 'untrusted-to-sink'],
    ['verbatim, strict', verbatim, { derivedTaint: 'strict' }, 'untrusted-to-sink'],
    ['verbatim and trifecta', { ...verbatim, sensitiveSeen: true }, {}, 'untrusted-to-sink'],
    ['trifecta', trifecta, {}, 'lethal-trifecta'],
    ['trifecta off', trifecta, { guardTrifecta: false }, undefined],
    ['trifecta, strict', trifecta, { derivedTaint: 'strict' }, 'derived-untrusted-to-sink'],
    ['untrusted, strict', untrusted, { derivedTaint: 'strict' }, 'derived-untrusted-to-sink'],
    ['untrusted, strict, trifecta off', untrusted, { derivedTaint: 'strict', guardTrifecta: false }, 'derived-untrusted-to-sink'],
    ['sensitive, strict', sensitive, { derivedTaint: 'strict' }, undefined],
    ['no taint, strict', base, { derivedTaint: 'strict' }, undefined],
  ];
  const modes: [DataFlowMode, string][] = [
    ['off', 'allow'],
    ['shadow', 'flag'],
    ['enforce', 'block'],
    ['loud' as DataFlowMode, 'block'],
  ];

  it.each(rows)('%s', (_name, evaluation, config, flow) => {
    for (const [mode, action] of modes) {
      for (const declassifySinks of [undefined, ['other'], ['other', 'send_email']]) {
        const policy = createDataFlowPolicy({ mode, ...config, ...(declassifySinks && { declassifySinks }) });
        expect(policy.mode).toBe(mode);
        const { evaluate } = policy;
        for (const effects of ['pure', 'read-only'] as SideEffectClass[]) {
          expect(evaluate({ ...evaluation, sideEffectClass: effects })).toStrictEqual({ action: 'allow' });
        }
        for (const effects of ['side-effecting', 'external-stateful'] as SideEffectClass[]) {
          const decision = evaluate({ ...evaluation, sideEffectClass: effects });
          if (flow === undefined || mode === 'off') {
            expect(decision).toStrictEqual({ action: 'allow' });
          } else {
            expect(decision).toStrictEqual({
              action: declassifySinks?.includes('send_email') ? 'declassify' : action,
              flow,
              reason: expect.stringContaining("'send_email'") as string,
              sourceKinds: evaluation.sourceKinds,
            });
            if (decision.action === 'allow') throw new Error('unreachable');
            expect(decision.sourceKinds).toBe(evaluation.sourceKinds);
            expect(decision.reason).toContain('web-search, mcp');
            expect(decision.reason).toContain(effects);
          }
        }
      }
    }
  });

  it('assistant output is a sink whatever the side effects', () => {
    const policy = createDataFlowPolicy({ mode: 'enforce' });
    const decision = policy.evaluate({ ...verbatim, sideEffectClass: 'pure', sinkKind: 'assistant-output' });
    expect(decision).toMatchObject({ action: 'block', flow: 'untrusted-to-sink' });
    expect(policy.evaluate({ ...verbatim, sideEffectClass: 'pure', sinkKind: 'tool' })).toStrictEqual({ action: 'allow' });
  });

  it('the reason says untrusted when no kind is known', () => {
    const decision = createDataFlowPolicy({ mode: 'enforce' }).evaluate({ ...verbatim, sourceKinds: [] });
    expect(decision).toMatchObject({ reason: expect.stringContaining('untrusted') as string, sourceKinds: [] });
  });

  it('reads its config once; is a plain object', () => {
    const config = { mode: 'enforce' as DataFlowMode, declassifySinks: ['a'], guardTrifecta: true };
    const policy = createDataFlowPolicy(config);
    config.mode = 'off';
    config.declassifySinks.push('send_email');
    config.guardTrifecta = false;
    expect(policy.evaluate(trifecta).action).toBe('block');
    expect(Object.keys(policy)).toEqual(['mode', 'evaluate']);
    expect(Object.isFrozen(policy)).toBe(false);
  });
});
