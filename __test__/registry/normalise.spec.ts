import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toolReturn, type AnyTool, type ToolSource } from 'ferrule/core';
import {
  InvalidExampleError,
  InvalidPreferredModelError,
  InvalidSideEffectClassError,
} from 'ferrule/errors';
import { snapshotCounters, resetCountersForTesting } from 'ferrule/audit';
import { DEFAULT_MAX_RESULT_TOKENS, normaliseTool } from 'ferrule/registry';
import { bare, builtIn, firstParty, make, mcp, skill, web } from './support.js';

const wrap = 'detect-and-strip-and-wrap';

describe('normaliseTool (spec 01 section 6.2)', () => {
  // source, trust, inbound, truncation of n / code_execution / web_search, class, warns, deferred
  const matrix: [ToolSource, string, string, [string, string, string], string, boolean, boolean][] = [
    [firstParty, 'first-party-user-defined', 'detect-and-flag', ['middle', 'middle', 'summarize'], 'side-effecting', true, true],
    [builtIn('x'), 'first-party-built-in', 'pass-through', ['middle', 'tail', 'summarize'], 'side-effecting', true, false],
    [builtIn('web-search'), 'web-search', wrap, ['summarize', 'summarize', 'summarize'], 'side-effecting', true, false],
    [skill('s'), 'skill-trusted', 'detect-and-flag', ['middle', 'middle', 'summarize'], 'side-effecting', true, true],
    [skill('s', false), 'skill-untrusted', wrap, ['middle', 'middle', 'summarize'], 'side-effecting', true, true],
    [mcp('m'), 'mcp-derived', wrap, ['middle', 'middle', 'summarize'], 'external-stateful', false, true],
    [web('w'), 'web-search', wrap, ['summarize', 'summarize', 'summarize'], 'side-effecting', true, true],
  ];
  it.each(matrix)('matrix: %o', (source, trust, inbound, truncation, sideEffect, warns, deferred) => {
    const { resolved, warnings, deferredDefaultApplied } = normaliseTool(bare('n'), source);
    expect(resolved.__trustClass).toBe(trust);
    expect(resolved.inboundSanitization).toBe(inbound);
    expect([resolved.sideEffectClass, resolved.__sideEffectClass]).toEqual([sideEffect, sideEffect]);
    expect(resolved.__source).toBe(source);
    expect(deferredDefaultApplied).toBe(true);
    expect(warnings.some(({ kind }) => kind === 'classification:missing')).toBe(warns);
    expect(warnings).toContainEqual({
      kind: 'classification:idempotency-key-missing',
      toolName: 'n',
      sideEffectClass: sideEffect,
    });
    for (const [at, name] of ['n', 'code_execution', 'web_search'].entries()) {
      expect(normaliseTool(bare(name), source).resolved.truncationStrategy).toBe(truncation[at]);
    }
    const byDefault = normaliseTool(bare('n'), source, { deferLoadingByDefault: true }).resolved;
    expect(byDefault.__effectiveDeferLoading).toBe(deferred);
    expect(resolved.__effectiveDeferLoading).toBe(false);
  });

  it('the author wins over every default', () => {
    const own = {
      inboundSanitization: 'detect-and-wrap',
      truncationStrategy: 'tail',
      maxResultTokens: 5,
      examplesEagerlyRendered: true,
      sideEffectClass: 'pure',
      defer_loading: true,
    } as const;
    const { resolved, warnings, deferredDefaultApplied } = normaliseTool(make('n', own), mcp('m'));
    expect(resolved).toMatchObject(own);
    expect(warnings).toEqual([]);
    expect(deferredDefaultApplied).toBe(false);
  });

  it('null counts as missing for inbound, truncation and deferral only', () => {
    const nulls = {
      inboundSanitization: null,
      truncationStrategy: null,
      defer_loading: null,
      maxResultTokens: null,
      examplesEagerlyRendered: null,
    } as unknown as Partial<AnyTool>;
    const { resolved } = normaliseTool(make('n', nulls), firstParty, { deferLoadingByDefault: true });
    expect(resolved).toMatchObject({
      inboundSanitization: 'detect-and-flag',
      truncationStrategy: 'middle',
      __effectiveDeferLoading: true,
      maxResultTokens: null,
      examplesEagerlyRendered: null,
    });
  });

  it('caps results at 16384 tokens, and warns about 0', () => {
    expect(DEFAULT_MAX_RESULT_TOKENS).toBe(16384);
    expect(normaliseTool(make('n'), firstParty).resolved.maxResultTokens).toBe(16384);
    const { resolved, warnings } = normaliseTool(make('n', { maxResultTokens: 0 }), firstParty);
    expect(resolved.maxResultTokens).toBe(0);
    expect(warnings).toEqual([{ kind: 'result:cap-disabled', toolName: 'n' }]);
  });

  it.each([
    // defer_loading, registry default, source, expected deferral, expected examplesEagerlyRendered
    [true, false, firstParty, true, false],
    [false, false, firstParty, false, true],
    [false, true, firstParty, false, true],
    [true, false, builtIn('x'), true, false],
    [undefined, true, firstParty, true, false],
    [undefined, true, builtIn('x'), false, undefined],
    [undefined, false, firstParty, false, undefined],
    [undefined, 1 as unknown as boolean, firstParty, false, undefined],
  ] as const)('6.2 deferral %o, default %o: %o', (declared, byDefault, source, deferred, rendered) => {
    const patch = declared === undefined ? {} : { defer_loading: declared };
    const { resolved } = normaliseTool(make('n', patch), source, { deferLoadingByDefault: byDefault });
    expect(resolved.__effectiveDeferLoading).toBe(deferred);
    expect('examplesEagerlyRendered' in resolved).toBe(rendered !== undefined);
    expect(resolved.examplesEagerlyRendered).toBe(rendered);
    const kept = normaliseTool(make('n', { ...patch, examplesEagerlyRendered: !rendered }), source);
    expect(kept.resolved.examplesEagerlyRendered).toBe(!rendered);
  });

  it('keeps everything else, by identity and in place; added keys follow in a fixed order', () => {
    const mark = Symbol.for('graphorin.SubAgentTool');
    const agent = { secret: true };
    const tool = { ...bare('n', { preferredModel: 'fast', maxResultTokens: 7, defer_loading: true }), extra: agent, [mark]: agent };
    const { resolved } = normaliseTool(tool, firstParty);
    expect(Reflect.ownKeys(resolved)).toEqual([
      'name',
      'description',
      'inputSchema',
      'execute',
      'preferredModel',
      'maxResultTokens',
      'defer_loading',
      'extra',
      'inboundSanitization',
      'truncationStrategy',
      'examplesEagerlyRendered',
      'sideEffectClass',
      '__trustClass',
      '__source',
      '__effectiveDeferLoading',
      '__sideEffectClass',
      '__hasIdempotencyKey',
      '__streamingHint',
      '__exampleCount',
      '__preferredModel',
      mark,
    ]);
    expect(Object.isFrozen(resolved)).toBe(true);
    const found = resolved as unknown as Record<PropertyKey, unknown>;
    expect([found['extra'], found[mark], found['execute'], found['inputSchema']]).toEqual([
      agent,
      agent,
      tool.execute,
      tool.inputSchema,
    ]);
    expect(found[mark]).toBe(agent);
    expect(Object.isFrozen(tool)).toBe(false);
  });

  it('absent stays absent', () => {
    const { resolved } = normaliseTool(bare('n', { sensitivity: 'secret', memoryGuardTier: 'unknown' }), firstParty);
    for (const key of ['needsApproval', 'sandboxPolicy', 'tags', 'executionMode', 'secretsAllowed', 'failClosed', '__preferredModel', 'outputSchema']) {
      expect(key in resolved).toBe(false);
    }
  });

  it('spec 04 9.2: a getter is read once', () => {
    let reads = 0;
    const tool = make('n');
    Object.defineProperty(tool, 'tags', { enumerable: true, get: () => [String(++reads)] });
    const { resolved } = normaliseTool(tool, firstParty);
    expect([resolved.tags, reads]).toEqual([['1'], 1]);
  });

  it('11 no. 26: a tool from a class keeps its prototype execute', async () => {
    class Echo {
      readonly name = 'echo';
      readonly description = 'd';
      readonly inputSchema = z.object({});
      readonly #word = 'hello';
      async execute() {
        return this.#word;
      }
    }
    const { resolved } = normaliseTool(new Echo(), firstParty);
    expect(await resolved.execute({}, undefined as never)).toBe('hello');
  });

  it('flags: idempotency key, streaming, examples', () => {
    const patch: Partial<AnyTool> = {
      idempotencyKey: () => 'k',
      streamingHint: true,
      examples: Array.from({ length: 7 }, () => ({ input: {}, output: 1 })),
    };
    expect(normaliseTool(make('n', patch), firstParty).resolved).toMatchObject({
      __hasIdempotencyKey: true,
      __streamingHint: true,
      __exampleCount: 7,
    });
    expect(normaliseTool(make('n', { idempotencyKey: 'k' as never }), firstParty).resolved).toMatchObject({
      __hasIdempotencyKey: false,
      __streamingHint: false,
      __exampleCount: 0,
    });
  });

  it('all five warnings, in order', () => {
    const { warnings } = normaliseTool(
      bare('u', {
        sandboxPolicy: 'docker',
        maxResultTokens: 0,
        examples: Array.from({ length: 6 }, () => ({ input: {}, output: 1 })),
      }),
      firstParty,
    );
    expect(warnings).toEqual([
      { kind: 'classification:missing', toolName: 'u' },
      { kind: 'sandbox:advisory-inline', toolName: 'u', policy: 'docker' },
      { kind: 'classification:idempotency-key-missing', toolName: 'u', sideEffectClass: 'side-effecting' },
      { kind: 'examples:overflow', toolName: 'u', count: 6 },
      { kind: 'result:cap-disabled', toolName: 'u' },
    ]);
  });

  it.each([
    [firstParty, 'docker', true],
    [firstParty, 'none', false],
    [mcp('m'), 'docker', false],
    [builtIn('x'), 'docker', false],
  ] as const)('sandbox advice: %o %s', (source, sandboxPolicy, warns) => {
    const { warnings } = normaliseTool(make('n', { sandboxPolicy }), source);
    expect(warnings.length).toBe(warns ? 1 : 0);
  });

  it.each([
    ['side-effecting', false, true],
    ['external-stateful', false, true],
    ['pure', false, false],
    ['read-only', false, false],
    ['side-effecting', true, false],
  ] as const)('key warning: %s, key %s', (sideEffectClass, key, warns) => {
    const patch = { sideEffectClass, ...(key ? { idempotencyKey: () => 'k' } : {}) };
    const { warnings } = normaliseTool(make('n', patch), firstParty);
    expect(warnings.map(({ kind }) => kind)).toEqual(warns ? ['classification:idempotency-key-missing'] : []);
  });

  it('is pure', () => {
    resetCountersForTesting();
    normaliseTool(bare('n', { maxResultTokens: 0 }), firstParty);
    expect(snapshotCounters().counters).toEqual({});
  });
});

describe('preferredModel (6.2 step 2)', () => {
  const provider = { name: 'p', modelId: 'm' };
  it.each(['fast', 'balanced', 'smart', provider, { provider, model: 'x' }, Object.create(provider) as object])(
    'accepts %o',
    (value) => {
      const { resolved } = normaliseTool(make('n', { preferredModel: value as never }), firstParty);
      expect(resolved.__preferredModel).toBe(value);
    },
  );

  it.each([
    [null, 'null'],
    ['cosmic', '"cosmic"'],
    ['', '""'],
    [5n, '[object BigInt]'],
    [() => 1, 'undefined'],
    [{}, '{}'],
    [{ name: 'p' }, '{"name":"p"}'],
    [{ provider, model: 5 }, undefined],
    [{ provider: 'p', model: 'm' }, undefined],
    [{ ...provider, provider: {}, model: 'm' }, undefined],
    [[], '[]'],
  ])('refuses %o', (value, text) => {
    const attempt = (): unknown => normaliseTool(make('n', { preferredModel: value as never }), firstParty);
    expect(attempt).toThrow(InvalidPreferredModelError);
    if (text !== undefined) expect(attempt).toThrow(`preferredModel: ${text}`);
  });
});

describe('errors and examples (6.2 steps 3 and 4)', () => {
  it.each([null, 'Pure', '', 7, 'read_only'])('refuses sideEffectClass %o', (value) => {
    expect(() => normaliseTool(make('n', { sideEffectClass: value as never }), firstParty)).toThrow(
      InvalidSideEffectClassError,
    );
  });

  const inputSchema = z.object({ a: z.number() });
  const outputSchema = z.object({ b: z.string() });
  const good = { input: { a: 1 }, output: { b: 'x' } };

  it('reports preferredModel, then the class, then examples', () => {
    const bad = { inputSchema, examples: [{ input: 1, output: 1 }] };
    const all = { ...bad, sideEffectClass: 'x' as never, preferredModel: 'x' as never };
    expect(() => normaliseTool(make('n', all), firstParty)).toThrow(InvalidPreferredModelError);
    expect(() => normaliseTool(make('n', { ...bad, sideEffectClass: 'x' as never }), firstParty)).toThrow(
      InvalidSideEffectClassError,
    );
    expect(() => normaliseTool(make('n', bad), firstParty)).toThrow(InvalidExampleError);
  });

  it.each([
    [[good, { input: { a: '1' }, output: { b: 'x' } }], 1, 'input'],
    [[good, good, good, good, good, good, { input: { a: 1 }, output: { b: 1 } }], 6, 'output'],
    [[{ input: { a: 1 }, output: { output: { b: 1 } } }], 0, 'output'],
    [[{ input: { a: 1 }, output: undefined }], 0, 'output'],
  ])('refuses example list %#', (examples, exampleIndex, field) => {
    let thrown: unknown;
    try {
      normaliseTool(make('n', { inputSchema, outputSchema, examples }), firstParty);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(InvalidExampleError);
    expect(thrown).toMatchObject({ toolName: 'n', exampleIndex, field });
    expect((thrown as InvalidExampleError).validationError).toHaveProperty('issues');
    expect((thrown as InvalidExampleError).cause).toBe((thrown as InvalidExampleError).validationError);
  });

  it.each([
    [[]],
    [[good]],
    [[{ input: { a: 1 }, output: toolReturn({ output: { b: 'x' } }) }]],
    [[{ input: { a: 1 }, output: { output: { b: 'x' }, taint: {} } }]],
  ])('accepts example list %#', (examples) => {
    const { resolved } = normaliseTool(make('n', { inputSchema, outputSchema, examples }), firstParty);
    expect(resolved.examples).toBe(examples);
  });

  it('outputs are not looked at without an output schema', () => {
    const examples = [{ input: { a: 1 } }] as never;
    expect(() => normaliseTool(make('n', { inputSchema, examples }), firstParty)).not.toThrow();
  });

  it('11 no. 29: an output of the shape { output } is unwrapped once too often unless branded', () => {
    const shaped = { outputSchema: z.object({ output: z.number() }) };
    const attempt = (output: unknown): unknown =>
      normaliseTool(make('n', { ...shaped, examples: [{ input: {}, output }] }), firstParty);
    expect(() => attempt({ output: 1 })).toThrow(InvalidExampleError);
    expect(() => attempt(toolReturn({ output: { output: 1 } }))).not.toThrow();
  });

  it('what safeParse throws passes through; it is called as a method', () => {
    const failing = { parse: () => 0, safeParse: () => { throw new RangeError('async only'); } };
    const examples = [{ input: 1, output: 1 }];
    expect(() => normaliseTool(make('n', { inputSchema: failing as never, examples }), firstParty)).toThrow(RangeError);
    const method = { ok: true, parse: () => 0, safeParse() { return { success: this.ok, data: 1 }; } };
    expect(() => normaliseTool(make('n', { inputSchema: method as never, examples }), firstParty)).not.toThrow();
  });
});
