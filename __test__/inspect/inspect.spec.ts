import { describe, expect, it, vi } from 'vitest';
import { injectionClassifierOutputGuardrail, runInjectionClassifier, type InjectionClassifierInput } from 'ferrule/inspect';

const input: InjectionClassifierInput = { text: 'hello', surface: 'tool-inbound' };
const classifier = (classify: (input: InjectionClassifierInput) => unknown) => ({ id: 'c1', classify: classify as never });

describe('5 runInjectionClassifier', () => {
  it('asks once, as a method, with the very input, and returns the verdict as given', async () => {
    const verdict = { flagged: true, score: 0.9, labels: ['x'] };
    const classify = vi.fn(async () => verdict);
    const it = classifier(classify);
    expect(await runInjectionClassifier(it, input)).toBe(verdict);
    expect(classify.mock.calls).toEqual([[input]]);
    expect((classify.mock.calls as unknown[][])[0]?.[0]).toBe(input);
    expect(classify.mock.contexts[0]).toBe(it);
    expect('origin' in input).toBe(false);
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a synchronous throw', classifier(() => { throw new Error('x'); })],
    ['a rejection', classifier(() => Promise.reject(new Error('x')))],
    ['no method at all', { id: 'x' } as never],
    ['no verdict', classifier(async () => undefined)],
  ])('null for %s', async (_name, it) => {
    const answer = runInjectionClassifier(it, input);
    expect(answer).toBeInstanceOf(Promise);
    expect(await answer).toBeNull();
  });
});

describe('5 injectionClassifierOutputGuardrail', () => {
  it('is a plain object with three members; check works detached', async () => {
    const classify = vi.fn(async () => ({ flagged: false }));
    const guardrail = injectionClassifierOutputGuardrail(classifier(classify));
    expect(Object.keys(guardrail)).toEqual(['kind', 'name', 'check']);
    expect(guardrail).toMatchObject({ kind: 'output', name: 'injection-classifier:c1' });
    const { check } = guardrail;
    expect(await check('text', { ctx: 1 })).toStrictEqual({ ok: true });
    expect(classify.mock.calls).toEqual([[{ text: 'text', surface: 'assistant-output' }]]);
  });

  it('does not ask about what is not text, or empty', async () => {
    const classify = vi.fn(async () => ({ flagged: true }));
    const { check } = injectionClassifierOutputGuardrail(classifier(classify));
    for (const value of ['', 7, null, undefined, { text: 'x' }, ['x']]) expect(await check(value)).toStrictEqual({ ok: true });
    expect(classify).not.toHaveBeenCalled();
  });

  it.each([
    [{}, { flagged: true }, 'warn', "injection classifier 'c1' flagged the output"],
    [{ action: 'block' }, { flagged: true, labels: ['a', 'b'] }, 'block', "injection classifier 'c1' flagged the output (a, b)"],
    [{ action: 'warn' }, { flagged: true, labels: [] }, 'warn', "injection classifier 'c1' flagged the output"],
  ] as const)('%j %j', async (options, verdict, action, message) => {
    const { check } = injectionClassifierOutputGuardrail(classifier(async () => verdict), options);
    expect(await check('text')).toStrictEqual({ ok: false, action, message });
  });

  it('a classifier that throws is no reason to stop', async () => {
    const { check } = injectionClassifierOutputGuardrail(classifier(() => { throw new Error('x'); }), { action: 'block' });
    expect(await check('text')).toStrictEqual({ ok: true });
  });
});
