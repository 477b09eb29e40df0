import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { z } from 'zod';
import * as builder from 'ferrule/builder';
import {
  defaultInboundSanitization,
  defaultTruncationStrategy,
  resolveTrustClass,
  tool,
  type ToolSpec,
} from 'ferrule/builder';
import type { ToolSource, ToolTrustClass } from 'ferrule/core';

const good = {
  name: 'lookup',
  description: 'Looks up.',
  inputSchema: z.object({ q: z.string() }),
  execute: async () => 1,
};
const make = (patch: object): unknown => tool({ ...good, ...patch } as ToolSpec);

describe('tool() (spec 01 section 3.2)', () => {
  it.each([[undefined, 'undefined'], [null, 'null'], ['search', 'string']])('what is no declaration at all is named: %s', (spec, kind) => {
    expect(() => tool(spec as never)).toThrow(new TypeError(`tool({...}): expects an object that declares the tool (got ${kind}).`));
  });

  it('exports exactly the four values', () => {
    expect(Object.keys(builder).sort()).toEqual([
      'defaultInboundSanitization',
      'defaultTruncationStrategy',
      'resolveTrustClass',
      'tool',
    ]);
  });

  const long = 'x'.repeat(129);
  const refused: [object, string[]][] = [
    [{ name: '' }, ['tool({...})', "'name' must be a non-empty string"]],
    [{ name: undefined }, ['tool({...})', "'name' must be a non-empty string"]],
    [{ name: 5 }, ['tool({...})', "'name' must be a non-empty string"]],
    [{ name: long }, [`tool({ name: '${long}' })`, "'name' must be at most 128 characters", '(got 129)']],
    [{ name: `${long} !` }, ['at most 128 characters', '(got 131)']],
    ...['has space', 'a/b', 'ünï', 'tab\t', 'line\n', ' a', 'a:b', '日本語'].map((name): [object, string[]] => [
      { name },
      [`tool({ name: '${name}' })`, "'name' must match", '/^[A-Za-z0-9._-]+$/'],
    ]),
    [{ description: '' }, ["tool({ name: 'lookup' })", "'description' must be a non-empty string"]],
    [{ description: 5 }, ["'description' must be a non-empty string"]],
    [{ inputSchema: undefined }, ["'inputSchema' is required", 'z.object({})']],
    [{ inputSchema: null }, ["'inputSchema' is required"]],
    [{ execute: undefined }, ["'execute' must be an async function"]],
    [{ execute: {} }, ["'execute' must be an async function"]],
  ];
  it.each(refused)('refuses %o', (patch, fragments) => {
    let thrown: unknown;
    try {
      make(patch);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(TypeError);
    expect((thrown as Error).constructor).toBe(TypeError);
    for (const fragment of fragments) expect((thrown as Error).message).toContain(fragment);
  });

  it('reports the first of several faults', () => {
    expect(() => make({ name: '', description: '', execute: 1 })).toThrow(/'name'/);
    expect(() => make({ description: '', inputSchema: null })).toThrow(/'description'/);
    expect(() => make({ inputSchema: null, execute: 1 })).toThrow(/'inputSchema'/);
    expect(() => tool(undefined as never)).toThrow(TypeError);
  });

  it.each([
    { name: 'x'.repeat(128) },
    { name: '.-_' },
    { name: '7' },
    { inputSchema: 5 },
    { execute: () => 1 },
    { sideEffectClass: 'nonsense', preferredModel: 0, examples: 'no', maxResultTokens: -1 },
    ...['then', 'constructor', '__proto__', 'toString', 'hasOwnProperty'].map((name) => ({ name })),
  ])('accepts %o', (patch) => {
    expect(make(patch)).toMatchObject(patch);
  });

  it('returns a frozen shallow copy with every own property in place', () => {
    const symbol = Symbol('extra');
    const tags = ['a'];
    const spec = { extra: 1, ...good, tags, [symbol]: { deep: true } };
    const made = tool(spec);
    expect(made).not.toBe(spec);
    expect(Object.isFrozen(made) && !Object.isFrozen(spec) && !Object.isFrozen(tags)).toBe(true);
    expect(Reflect.ownKeys(made)).toEqual(Reflect.ownKeys(spec));
    for (const key of Reflect.ownKeys(spec) as (keyof typeof spec)[]) {
      expect((made as typeof spec)[key]).toBe(spec[key]);
    }
  });

  it('keeps what an instance of a class has from its prototype, with its private state', async () => {
    class Counter {
      readonly name = 'counter';
      readonly description = 'Counts.';
      readonly inputSchema = z.object({});
      #count = 0;
      get sideEffectClass() {
        return 'pure' as const;
      }
      async execute() {
        return ++this.#count;
      }
    }
    const made = tool(new Counter());
    expect(made.sideEffectClass).toBe('pure');
    expect(await made.execute({}, undefined as never)).toBe(1);
    expect(await made.execute({}, undefined as never)).toBe(2);
  });

  it('accepts exactly the names of the grammar (property)', () => {
    const names = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'aZ09._-'), minLength: 1, maxLength: 140 }),
      fc.string({ maxLength: 10 }),
    );
    fc.assert(
      fc.property(names, (name) => {
        const valid = /^[A-Za-z0-9._-]{1,128}$/.test(name) && !name.endsWith('\n');
        if (valid) expect(make({ name })).toMatchObject({ name });
        else expect(() => make({ name })).toThrow(TypeError);
      }),
    );
  });
});

describe('defaults by source (spec 01 sections 3.3 to 3.5)', () => {
  const sources: [ToolSource, ToolTrustClass][] = [
    [{ kind: 'first-party' }, 'first-party-user-defined'],
    [{ kind: 'built-in', subsystem: 'web-search' }, 'web-search'],
    [{ kind: 'built-in', subsystem: 'memory' }, 'first-party-built-in'],
    [{ kind: 'skill', skillName: 's', trustLevel: 'trusted' }, 'skill-trusted'],
    [{ kind: 'skill', skillName: 's', trustLevel: 'untrusted' }, 'skill-untrusted'],
    [{ kind: 'skill', skillName: 's', trustLevel: 'TRUSTED' as never }, 'skill-untrusted'],
    [{ kind: 'mcp', serverIdentity: 'm' }, 'mcp-derived'],
    [{ kind: 'web-search', providerName: 'p' }, 'web-search'],
  ];
  it.each(sources)('3.3: %o', (source, trust) => expect(resolveTrustClass(source)).toBe(trust));

  it.each([
    ['first-party-built-in', 'pass-through'],
    ['first-party-user-defined', 'detect-and-flag'],
    ['skill-trusted', 'detect-and-flag'],
    ['skill-untrusted', 'detect-and-strip-and-wrap'],
    ['mcp-derived', 'detect-and-strip-and-wrap'],
    ['web-search', 'detect-and-strip-and-wrap'],
    ['channel-inbound', 'detect-and-strip-and-wrap'],
  ] as const)('3.4: %s', (trust, policy) => expect(defaultInboundSanitization(trust)).toBe(policy));

  it.each([
    ['first-party-built-in', 'code_execution', 'tail'],
    ['first-party-user-defined', 'code_execution', 'middle'],
    ['web-search', 'code_execution', 'summarize'],
    ['web-search', 'x', 'summarize'],
    ['first-party-user-defined', 'web_search', 'summarize'],
    ['first-party-built-in', 'web_search', 'summarize'],
    ['mcp-derived', 'x', 'middle'],
  ] as const)('3.5: %s %s', (trust, name, strategy) => {
    expect(defaultTruncationStrategy(trust, name)).toBe(strategy);
  });
});
