import { describe, expect, it } from 'vitest';
import * as errors from 'ferrule/errors';
import { ToolRateLimitError } from '../js/errors/rate-limit.js';
import {
  DuplicateToolNameError,
  GraphorinToolsError,
  InvalidExampleError,
  InvalidPreferredModelError,
  InvalidSideEffectClassError,
  ToolCollisionError,
  ToolExecutionAggregateError,
} from 'ferrule/errors';

interface Row {
  readonly name: string;
  readonly make: () => GraphorinToolsError;
  readonly kind: string;
  readonly message: ReadonlyArray<string>;
  readonly hint: string | undefined;
  readonly keys: ReadonlyArray<string>;
}

const cause = new Error('field a is wrong');
const table: Row[] = [
  {
    name: 'DuplicateToolNameError',
    make: () => new DuplicateToolNameError('send'),
    kind: 'duplicate-tool-name',
    message: ['Duplicate tool name "send"'],
    hint: 'assertNoDuplicates(strategy, ctx)',
    keys: ['toolName'],
  },
  {
    name: 'InvalidExampleError',
    make: () => new InvalidExampleError({ toolName: 't', exampleIndex: 2, field: 'output', validationError: cause }),
    kind: 'invalid-example',
    message: ['Tool "t"', 'example #2', 'failed output-schema validation: field a is wrong'],
    hint: 'outputSchema',
    keys: ['toolName', 'exampleIndex', 'field', 'validationError'],
  },
  {
    name: 'InvalidPreferredModelError',
    make: () => new InvalidPreferredModelError({ toolName: 't', value: 'cosmic' }),
    kind: 'invalid-preferred-model',
    message: ['Tool "t"', 'preferredModel: "cosmic"', "'fast' | 'balanced' | 'smart'", 'ModelSpec'],
    hint: '{ provider, model }',
    keys: ['toolName', 'value'],
  },
  {
    name: 'InvalidSideEffectClassError',
    make: () => new InvalidSideEffectClassError({ toolName: 't', value: 7 }),
    kind: 'invalid-side-effect-class',
    message: [
      'Tool "t"',
      'sideEffectClass: 7',
      "'pure' | 'read-only' | 'side-effecting' | 'external-stateful'",
    ],
    hint: 'side-effect classification',
    keys: ['toolName', 'value'],
  },
  {
    name: 'ToolExecutionAggregateError',
    make: () =>
      new ToolExecutionAggregateError([
        { toolCallId: 'c1', toolName: 'a', error: 1 },
        { toolCallId: 'c2', toolName: 'b', error: 2 },
      ]),
    kind: 'tool-execution-aggregate',
    message: ['2 tool execution(s) failed', ': a#c1, b#c2'],
    hint: undefined,
    keys: ['failures'],
  },
  {
    name: 'ToolCollisionError',
    make: () =>
      new ToolCollisionError({
        toolName: 't',
        conflictingSources: ['mcp:a', 'mcp:b'],
        strategyAttempted: 'manual',
        resolutionOptions: ['auto-prefix', 'priority'],
      }),
    kind: 'tool-collision',
    message: ['Tool name "t"', '2 sources', '(mcp:a, mcp:b)', "strategy 'manual'"],
    hint: 'Choose one of: auto-prefix, priority.',
    keys: ['toolName', 'conflictingSources', 'strategyAttempted'],
  },
  {
    name: 'ToolRateLimitError',
    make: () => new ToolRateLimitError('slow down', { retryAfterMs: 50 }),
    kind: 'rate-limited',
    message: ['slow down'],
    hint: undefined,
    keys: ['retryAfterMs'],
  },
];

describe('errors (spec 01 section 4)', () => {
  it.each(table)('$name', ({ name, make, kind, message, hint, keys }) => {
    const error = make();
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(GraphorinToolsError);
    expect(error.constructor.name).toBe(name);
    expect(error.name).toBe(name);
    expect(error.kind).toBe(kind);
    for (const fragment of message) expect(error.message).toContain(fragment);
    if (hint === undefined) expect(error.hint).toBeUndefined();
    else expect(error.hint).toContain(hint);
    // 4.1: the order of own keys; `message` and `stack` are not enumerable.
    expect(Object.keys(error)).toEqual(['kind', 'hint', 'cause', 'name', ...keys]);
    expect(String(error)).toBe(`${name}: ${error.message}`);
  });

  it('4.1: hint and cause are kept, and undefined when left out', () => {
    const bare = new GraphorinToolsError('k', 'm');
    expect([bare.kind, bare.message, bare.name, bare.hint, bare.cause]).toEqual([
      'k',
      'm',
      'GraphorinToolsError',
      undefined,
      undefined,
    ]);
    const full = new GraphorinToolsError('k', 'm', { hint: 'h', cause });
    expect(full.hint).toBe('h');
    expect(full.cause).toBe(cause);
  });

  it('4.2: the exports are exactly seven', () => {
    expect(Object.keys(errors).sort()).toEqual([
      'DuplicateToolNameError',
      'GraphorinToolsError',
      'InvalidExampleError',
      'InvalidPreferredModelError',
      'InvalidSideEffectClassError',
      'ToolCollisionError',
      'ToolExecutionAggregateError',
    ]);
  });

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['cosmic', '"cosmic"'],
    [7, '7'],
    [Number.NaN, 'NaN'],
    [true, 'true'],
    [{ a: 1 }, '{"a":1}'],
    [() => 1, 'undefined'],
    [Symbol('s'), 'undefined'],
    [5n, '[object BigInt]'],
    [
      (() => {
        const cycle: Record<string, unknown> = {};
        cycle['self'] = cycle;
        return cycle;
      })(),
      '[object Object]',
    ],
  ])('4.2: described value %#', (value, text) => {
    const error = new InvalidPreferredModelError({ toolName: 't', value });
    expect(error.message).toContain(`preferredModel: ${text}`);
    expect(error.value).toBe(value);
  });

  it.each([
    [new Error('boom'), 'boom'],
    [{ message: 5 }, '5'],
    [{}, 'see validationError'],
    ['text', 'see validationError'],
    [null, 'see validationError'],
  ])('4.2: detail of an invalid example %#', (validationError, detail) => {
    const error = new InvalidExampleError({ toolName: 't', exampleIndex: 0, field: 'input', validationError });
    expect(error.message).toContain(`failed input-schema validation: ${detail}`);
    expect(error.cause).toBe(validationError);
    expect(error.hint).toContain('inputSchema');
  });

  it('4.2: lists are frozen copies', () => {
    const failure = { toolCallId: 'c', toolName: 't', error: cause };
    const aggregate = new ToolExecutionAggregateError([failure]);
    expect(aggregate.failures[0]).not.toBe(failure);
    expect(aggregate.failures[0]?.error).toBe(cause);
    expect(Object.isFrozen(aggregate.failures) && Object.isFrozen(aggregate.failures[0])).toBe(true);
    expect(new ToolExecutionAggregateError([]).message).toMatch(/^0 tool execution\(s\) failed/);
    const conflictingSources = ['a', 'b'];
    const collision = new ToolCollisionError({
      toolName: 't',
      conflictingSources,
      strategyAttempted: 's',
      resolutionOptions: [],
    });
    expect(collision.conflictingSources).not.toBe(conflictingSources);
    expect(Object.isFrozen(collision.conflictingSources)).toBe(true);
    expect(collision).not.toHaveProperty('resolutionOptions');
  });

  it('isInstance recognises subclasses, other copies, and nothing else; also detached', () => {
    const error = new DuplicateToolNameError('t');
    const { isInstance } = DuplicateToolNameError;
    expect(isInstance(error) && GraphorinToolsError.isInstance(error)).toBe(true);
    expect(ToolCollisionError.isInstance(error)).toBe(false);
    expect(isInstance(new GraphorinToolsError('k', 'm'))).toBe(false);
    class Own extends DuplicateToolNameError {}
    expect(isInstance(new Own('t'))).toBe(true);
    const foreign = { [Symbol.for('ferrule.error.DuplicateToolNameError')]: true };
    expect(isInstance(foreign)).toBe(true);
    for (const value of [undefined, null, 'x', 5, {}, new Error('x')]) expect(isInstance(value)).toBe(false);
  });
});
