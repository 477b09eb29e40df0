// The contracts that are values (spec 01 section 2). Those that are types only: types/contracts.test-d.ts.
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod3';
import {
  acceptsSensitivity,
  isToolReturnEnvelope,
  isUnbrandedToolReturn,
  MODEL_HINTS,
  NODEJS_INSPECT_CUSTOM,
  NOOP_LOGGER,
  NOOP_TRACER,
  SECRET_VALUE_BRAND,
  SENSITIVITY_ORDER,
  TOOL_RETURN_BRAND,
  toolReturn,
  validate,
  validateOrThrow,
  zeroUsage,
  type Tracer,
  type ZodLikeSchema,
} from 'ferrule/core';

const brand = Symbol.for('graphorin.ToolReturn');

describe('2.6 the envelope (spec 01; spec 02 section 2.14)', () => {
  it('2.6: toolReturn makes a plain branded object with what was given', () => {
    expect(TOOL_RETURN_BRAND).toBe(brand);
    const bare = toolReturn({ output: 42 });
    expect([Object.keys(bare), Object.getOwnPropertySymbols(bare), Object.isFrozen(bare)]).toEqual([['output'], [brand], false]);
    expect(bare[TOOL_RETURN_BRAND]).toBe(true);
    const taint = { untrusted: true };
    const full = toolReturn({ output: 1, contentParts: [], taint });
    expect(Object.keys(full)).toEqual(['output', 'contentParts', 'taint']);
    expect(full.taint).toBe(taint);
  });

  it.each<[string, unknown, boolean, boolean]>([
    ['a number', 5, false, false],
    ['null', null, false, false],
    ['an array', Object.assign([], { output: 1 }), false, false],
    ['a function', Object.assign(() => 1, { output: 1 }), false, false],
    ['only output', { output: 1 }, true, true],
    ['an undefined output', { output: undefined }, true, true],
    ['the three keys', { output: 1, contentParts: [], taint: {} }, true, true],
    ['another key', { output: 1, exitCode: 0 }, false, false],
    ['no output', { contentParts: [] }, false, false],
    ['an inherited output', Object.create({ output: 1 }), false, false],
    ['a symbol key beside', { output: 1, [Symbol('x')]: 1 }, true, true],
    ['a hidden key beside', Object.defineProperty({ output: 1 }, 'x', { value: 1 }), true, true],
    ['a brand beside anything', { [brand]: true, other: 1 }, true, false],
    ['an inherited brand', Object.create({ [brand]: true }), true, false],
    ['a brand that is not true', { [brand]: 1, other: 1 }, false, false],
  ])('2.6: %s', (_, value, envelope, unbranded) => {
    expect([isToolReturnEnvelope(value), isUnbrandedToolReturn(value)]).toEqual([envelope, unbranded]);
  });
});

describe('2.7, 2.8 lists (spec 01)', () => {
  it('2.7: the hints, cheapest first', () => {
    expect(MODEL_HINTS).toEqual(['fast', 'balanced', 'smart']);
    expect(Object.isFrozen(MODEL_HINTS)).toBe(false);
  });

  it('2.8: a membership test, no order', () => {
    expect(SENSITIVITY_ORDER).toEqual(['public', 'internal', 'secret']);
    expect(Object.isFrozen(SENSITIVITY_ORDER)).toBe(false);
    expect(acceptsSensitivity(['public', 'internal'], 'internal')).toBe(true);
    expect(acceptsSensitivity(['public', 'internal'], 'secret')).toBe(false);
    expect(acceptsSensitivity(['public'], 'internal')).toBe(false);
    expect(acceptsSensitivity(['secret'], 'public')).toBe(false);
  });
});

describe('2.9 validation (spec 01; spec 02 section 2.15)', () => {
  it.each([['zod 4', z.object({ a: z.string() })], ['zod 3', z3.object({ a: z3.string() })]])('2.9: validate with %s', (_, schema) => {
    expect(validate(schema as ZodLikeSchema, { a: 'x' })).toEqual({ ok: true, value: { a: 'x' } });
    const refused = validate(schema as ZodLikeSchema, { a: 1 });
    expect(refused).toMatchObject({ ok: false, error: { issues: [{ path: ['a'] }] } });
  });

  it('2.9: one safeParse, and what the schema throws passes through', () => {
    let asked = 0;
    const broken = new Error('broken');
    const schema = { parse: (data: unknown) => data, safeParse: (): never => { asked += 1; throw broken; } };
    expect(() => validate(schema, 1)).toThrow(broken);
    expect(asked).toBe(1);
  });

  it('2.9: validateOrThrow returns the value, or lists every issue in a TypeError', () => {
    const schema = z3.object({ a: z3.string(), b: z3.number() }) as ZodLikeSchema;
    expect(validateOrThrow(schema, { a: 'x', b: 1 })).toEqual({ a: 'x', b: 1 });
    const attempt = (what?: string) => (): unknown => validateOrThrow(schema, { a: 1, b: 'x' }, what);
    expect(attempt('config')).toThrow(TypeError);
    expect(attempt('config')).toThrow(
      'graphorin: validation failed for config: a: Expected string, received number; b: Expected number, received string',
    );
    expect(attempt('')).toThrow('graphorin: validation failed: a: ');
  });

  it('2.9: a path may hold symbols, and may be empty', () => {
    const issues = [{ path: ['a', Symbol('s'), 0], message: 'one' }, { path: [], message: 'two' }];
    const schema = { parse: (data: unknown) => data, safeParse: () => ({ success: false as const, error: { name: 'E', message: 'm', issues } }) };
    expect(() => validateOrThrow(schema, 1)).toThrow('graphorin: validation failed: a.Symbol(s).0: one; .: two');
  });
});

describe('2.11 to 2.14 (spec 01; spec 02 section 2.12)', () => {
  it('2.11: the brands of a secret', () => {
    expect(SECRET_VALUE_BRAND).toBe(Symbol.for('graphorin.SecretValue'));
    expect(NODEJS_INSPECT_CUSTOM).toBe(Symbol.for('nodejs.util.inspect.custom'));
  });

  it('2.12: usage starts at zero, a new object each time', () => {
    expect(zeroUsage()).toEqual({ promptTokens: 0, completionTokens: 0, totalTokens: 0 });
    expect(zeroUsage()).not.toBe(zeroUsage());
  });

  it('2.14, spec 02 section 2.12: the silent tracer runs the body, gives its result and its errors', async () => {
    const started = NOOP_TRACER.startSpan({ type: 'tool.execute' });
    expect([started.type, started.id, started.traceId]).toEqual(['tool.execute', '', '']);
    let ended = 0;
    const told = await NOOP_TRACER.span({ type: 'x.mine' }, async (span) => {
      ended += 1;
      expect([span.type, span.id]).toEqual(['x.mine', '']);
      return 7;
    });
    expect([told, ended]).toEqual([7, 1]);
    const broken = new Error('broken');
    await expect(NOOP_TRACER.span({ type: 'x.mine' }, async () => { throw broken; })).rejects.toBe(broken);
    await expect(NOOP_TRACER.shutdown()).resolves.toBeUndefined();
  });

  it('spec 02 section 7.4: the silent tracer opens spans through its own object', async () => {
    const mine = { ...NOOP_TRACER.startSpan({ type: 'x.mine' }), id: 'mine', end: vi.fn() };
    const startSpan = vi.fn(() => mine);
    const tracer = { ...NOOP_TRACER, startSpan } as unknown as Tracer;
    const opts = { type: 'x.mine' } as const;
    expect(await tracer.span(opts, (span) => span.id)).toBe('mine');
    expect(startSpan.mock.calls).toEqual([[opts]]);
    expect(mine.end).toHaveBeenCalledTimes(1);
    const { span } = NOOP_TRACER;
    expect(await span(opts, (inert) => inert.id)).toBe('');
  });

  it('2.14: the silent logger is its own child', () => {
    expect(NOOP_LOGGER.child({ a: 1 })).toBe(NOOP_LOGGER);
    for (const level of ['trace', 'debug', 'info', 'warn', 'error'] as const) expect(NOOP_LOGGER[level]('m', {})).toBeUndefined();
  });
});
