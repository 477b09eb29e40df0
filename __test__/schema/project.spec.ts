import { type } from 'arktype';
import { projectSchemaToJsonSchema, zodToJsonSchema } from 'ferrule/schema';
import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import { z as z4 } from 'zod';
import * as z4mini from 'zod/mini';
import { z as z3 } from 'zod3';
import { z as z325v4 } from 'zod3/v4';
import {
  type AnyZod,
  type Row,
  commonRows,
  v3Optionality,
  v3Rows,
  v4Optionality,
  v4Rows,
} from './vectors.js';

function check({ schema, expected, reports = [] }: Row): void {
  const seen: string[] = [];
  const result = zodToJsonSchema(schema, { onUnsupported: (detail) => seen.push(detail) });
  expect(result).toStrictEqual(expected);
  expect(JSON.stringify(result)).toBe(JSON.stringify(expected));
  expect(seen).toEqual(reports);
}

const LINES: Array<[string, AnyZod, (z: AnyZod) => Row[], typeof v3Optionality]> = [
  ['zod 3.25 classic', z3, v3Rows, v3Optionality],
  ['zod 3.25 v4', z325v4, v4Rows, v4Optionality],
  ['zod 4.6', z4, v4Rows, v4Optionality],
];

describe.each(LINES)('8.5 the table with %s', (_name, z, own, optionality) => {
  it.each([...commonRows(z), ...own(z)].map((r) => [r.name, r] as const))('%s', (_row, r) => check(r));

  it.each(optionality(z))('8.6 required: %s', (_row, schema, isOptional) => {
    const node = zodToJsonSchema(z.object({ p: schema }));
    expect(node['required']).toEqual(isOptional ? undefined : ['p']);
    expect('required' in node).toBe(!isOptional);
  });

  it('8.4 an object keeps shape order and lists what is required', () => {
    const schema = z.object({
      q: z.string().min(1).describe('what to look for'),
      limit: z.number().int().default(5),
      tags: z.array(z.enum(['a', 'b'])).optional(),
    });
    expect(Object.keys(zodToJsonSchema(schema)['properties'] as object)).toEqual(['q', 'limit', 'tags']);
    expect(zodToJsonSchema(schema)['required']).toEqual(['q']);
    expect(JSON.stringify(zodToJsonSchema(z.string().describe('d')))).toBe('{"description":"d","type":"string"}');
  });

  it('8.4 an inner description beats an outer one, which serves when there is no inner one', () => {
    expect(zodToJsonSchema(z.string().describe('in').optional().describe('out'))).toEqual({ description: 'in', type: 'string' });
    expect(zodToJsonSchema(z.string().optional().describe('out'))).toEqual({ description: 'out', type: 'string' });
    expect(zodToJsonSchema(z.array(z.string().describe('in')).describe('out'))).toEqual({
      description: 'out',
      type: 'array',
      items: { description: 'in', type: 'string' },
    });
    expect(zodToJsonSchema(z.string().describe(''))).toEqual({ type: 'string' });
    expect(zodToJsonSchema(z.symbol().describe('d'))).toEqual({ description: 'd' });
  });

  it('8.4 a schema met again below itself is {} without a report', () => {
    const onUnsupported = vi.fn();
    const tree: AnyZod = z.object({ name: z.string(), kids: z.lazy(() => z.array(tree)) }).describe('tree');
    expect(zodToJsonSchema(tree, { onUnsupported })).toEqual({
      description: 'tree',
      type: 'object',
      properties: { name: { type: 'string' }, kids: { type: 'array', items: {} } },
      required: ['name', 'kids'],
    });
    expect(onUnsupported).not.toHaveBeenCalled();
  });

  it('8.4 the same schema in two branches is expanded twice', () => {
    const leaf = z.object({ x: z.number() });
    const node = zodToJsonSchema(z.object({ a: leaf, b: leaf }))['properties'] as Record<string, unknown>;
    expect(node['b']).toEqual(node['a']);
    expect(node['b']).toHaveProperty('properties.x');
  });

  it('8.4 an endless chain ends after 13 object levels, its last property still required', () => {
    const onUnsupported = vi.fn();
    const endless = (): AnyZod => z.object({ next: z.lazy(endless) });
    let node: AnyZod = zodToJsonSchema(endless(), { onUnsupported });
    let levels = 0;
    while (node.type === 'object') {
      levels += 1;
      expect(node.required).toEqual(['next']);
      node = node.properties.next;
    }
    expect(levels).toBe(13);
    expect(node).toEqual({});
    expect(onUnsupported.mock.calls).toEqual([['max-depth']]);
  });

  it('8.4 each report once, in order of first occurrence; every occurrence with its path on request', () => {
    const onUnsupported = vi.fn();
    const onFallback = vi.fn();
    const schema = z.object({
      a: z.symbol(),
      list: z.array(z.map(z.string(), z.string())),
      pair: z.tuple([z.string(), z.symbol()]),
    });
    zodToJsonSchema(schema, { onUnsupported, onFallback });
    const [symbol, map] = onUnsupported.mock.calls.map(([detail]) => detail);
    expect(onUnsupported).toHaveBeenCalledTimes(2);
    expect(symbol).toMatch(/^zod-v[34]:(ZodSymbol|symbol)$/);
    expect(map).toMatch(/^zod-v[34]:(ZodMap|map)$/);
    expect(onFallback.mock.calls.map(([f]) => [f.detail, f.path])).toEqual([
      [symbol, ['a']],
      [map, ['list', '*']],
      [symbol, ['pair', 1]],
    ]);
  });

  it('8.5 a default factory that throws or gives undefined leaves no default', () => {
    const thrower = z.string().default(() => {
      throw new Error('no');
    });
    expect(zodToJsonSchema(thrower)).toStrictEqual({ type: 'string' });
    expect(zodToJsonSchema(z.any().default(() => undefined))).toStrictEqual({});
  });

  it('8.5 a default keeps its raw value', () => {
    const when = new Date(0);
    expect(zodToJsonSchema(z.date().default(when))['default']).toEqual(when);
    expect(zodToJsonSchema(z.bigint().default(3n))['default']).toBe(3n);
  });
});

describe('8.5 parts that depend on the version', () => {
  it('zod 4.6 has codec, xor, hostname and httpUrl', () => {
    const codec = z4.codec(z4.string(), z4.number(), { decode: Number, encode: String });
    expect(zodToJsonSchema(codec)).toEqual({ type: 'string' });
    expect(zodToJsonSchema(z4.httpUrl())).toEqual({ type: 'string', format: 'uri' });
    expect(zodToJsonSchema(z4.hostname())).toEqual({ type: 'string' });
    expect(zodToJsonSchema(z4.xor([z4.string(), z4.number()]))).toEqual({ anyOf: [{ type: 'string' }, { type: 'number' }] });
    expect(zodToJsonSchema(z4.exactOptional(z4.string()))).toEqual({ type: 'string' });
  });

  it('functions are kinds of their own in 4.6 and no schemas in 3.25', () => {
    const reports: string[] = [];
    const options = { onUnsupported: (detail: string) => reports.push(detail) };
    expect(zodToJsonSchema(z4.function(), options)).toEqual({});
    expect(zodToJsonSchema(z325v4.function(), options)).toEqual({});
    expect(reports).toEqual(['zod-v4:function', 'non-zod-node']);
  });

  it('zod-mini counts as v4 and has no descriptions', () => {
    const mini = z4mini.object({ a: z4mini.string().check(z4mini.minLength(2)), b: z4mini.optional(z4mini.int()) });
    expect(zodToJsonSchema(mini)).toEqual({
      type: 'object',
      properties: { a: { type: 'string', minLength: 2 }, b: { type: 'integer' } },
      required: ['a'],
    });
  });

  it('8.4 lines may be mixed; the containing object judges what is optional', () => {
    const a = z3.object({ p: z4.string().optional() as AnyZod });
    const b = z4.object({ p: z3.string().optional() as AnyZod });
    for (const schema of [a, b]) {
      expect(zodToJsonSchema(schema)).toEqual({ type: 'object', properties: { p: { type: 'string' } }, required: ['p'] });
    }
  });
});

describe('8.3 projectSchemaToJsonSchema', () => {
  const project = (raw: unknown): [unknown, string[]] => {
    const reports: string[] = [];
    return [projectSchemaToJsonSchema(raw, { onUnsupported: (detail) => reports.push(detail) }), reports];
  };

  it.each([null, undefined])('step 1: %s has none and is not reported', (raw) => {
    expect(project(raw)).toEqual([undefined, []]);
  });

  it('step 2: an object from toJSON() wins, by reference, over zod', () => {
    const own = { anything: true };
    const schema = Object.assign(z4.string(), { toJSON: () => own });
    expect(project(schema)[0]).toBe(own);
    const seen: unknown[] = [];
    const raw = {
      toJSON(...args: unknown[]) {
        seen.push(this, args.length);
        return own;
      },
    };
    expect(project(raw)[0]).toBe(own);
    expect(seen).toEqual([raw, 0]);
  });

  it.each([
    ['throws', () => { throw new Error('no'); }],
    ['gives null', () => null],
    ['gives an array', () => []],
    ['gives text', () => 'x'],
  ])('step 2: a toJSON() that %s falls through', (_name, toJSON) => {
    expect(project(Object.assign(z4.string(), { toJSON }))[0]).toEqual({ type: 'string' });
    const raw = { toJSON, type: 'string' };
    expect(project(raw)[0]).toBe(raw);
    expect(project({ toJSON, parse: () => 1 })).toEqual([undefined, ['unprojectable-schema']]);
  });

  it('step 4: JSON Schema by reference', () => {
    const raw = { type: 'object' };
    expect(project(raw)).toEqual([raw, []]);
    expect(project(raw)[0]).toBe(raw);
  });

  it.each([
    ['validator', { parse: () => 1, safeParse: () => ({ success: true, data: 1 }) }],
    ['text', 'x'],
    ['number', 3],
    ['function', () => ({})],
    ['array', [{ type: 'string' }]],
    ['object without a keyword', { title: 'x' }],
  ])('step 6: a %s is reported', (_name, raw) => {
    expect(project(raw)).toEqual([undefined, ['unprojectable-schema']]);
  });

  it('a Standard Schema is asked for its JSON Schema side', () => {
    const targets: string[] = [];
    const standard = (convert: (target: string) => unknown): unknown => ({
      '~standard': {
        version: 1,
        vendor: 't',
        validate: () => ({ value: 1 }),
        jsonSchema: {
          input: ({ target }: { target: string }) => {
            targets.push(target);
            return convert(target);
          },
          output: () => ({ type: 'boolean' }),
        },
      },
    });
    const node = { type: 'string' };
    expect(project(standard(() => node))[0]).toBe(node);
    const only7 = (target: string): unknown => {
      if (target !== 'draft-07') throw new Error(`no ${target}`);
      return node;
    };
    expect(project(standard(only7))[0]).toBe(node);
    expect(targets).toEqual(['draft-2020-12', 'draft-2020-12', 'draft-07']);
    expect(projectSchemaToJsonSchema(standard(only7), { side: 'output' })).toEqual({ type: 'boolean' });
    expect(project(standard(() => { throw new Error('no'); }))).toEqual([undefined, ['unprojectable-schema']]);
  });

  it('what a library makes of its schemas for itself is no JSON Schema', () => {
    // Valibot's have fields of these names, and are described by a package of its own.
    expect(project(v.object({ a: v.string() }))).toEqual([undefined, ['unprojectable-schema']]);
    expect(project(v.pipe(v.string(), v.minLength(1)))).toEqual([undefined, ['unprojectable-schema']]);
    // ArkType's have a toJSON() of their own form, and the standard's way beside it.
    const schema = type({ a: 'string', 'n?': 'number' });
    expect(schema.toJSON()).toHaveProperty('domain');
    const expected = { type: 'object', properties: { a: { type: 'string' }, n: { type: 'number' } }, required: ['a'] };
    expect(project(schema)[0]).toMatchObject(expected);
    const older = Object.assign((data: unknown) => schema(data), {
      toJSON: () => schema.toJSON(),
      '~standard': { version: 1, vendor: 'arktype', validate: () => ({ value: 1 }) },
    });
    expect(project(older)).toEqual([undefined, ['unprojectable-schema']]);
    expect(project({ ...older, toJSON: () => expected })[0]).toBe(expected);
  });
});

describe('conversion never breaks a list', () => {
  const boom = (): never => {
    throw new Error('no');
  };
  const hostile: Array<[string, unknown]> = [
    ['a toJSON getter', Object.defineProperty({}, 'toJSON', { get: boom, enumerable: true })],
    ['a parse getter', Object.defineProperty({ type: 'x' }, 'parse', { get: boom, enumerable: true })],
    ['_zod', Object.defineProperty({}, '_zod', { get: boom, enumerable: true })],
    ['_def', Object.defineProperty({}, '_def', { get: boom, enumerable: true })],
    ['a proxy', new Proxy({}, { get: boom, has: boom, ownKeys: boom, getOwnPropertyDescriptor: boom })],
    ['a revoked proxy', (() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; })()],
    ['~standard', Object.defineProperty({}, '~standard', { get: boom })],
    ['v4 description', Object.defineProperty(z4.string(), 'description', { get: boom })],
    ['v4 def', { _zod: { def: { type: 'optional', get innerType() { return boom(); } } } }],
    ['v4 shape', { _zod: { def: { type: 'object', get shape() { return boom(); } } } }],
    ['v3 shape', { _def: { typeName: 'ZodObject', shape: boom }, safeParse() {} }],
    ['v3 def', { _def: { typeName: 'ZodOptional', get innerType() { return boom(); } }, safeParse() {} }],
    ['v4 optin', z4.object({ p: z4.lazy(boom) })],
  ];

  it.each(hostile)('%s throws', (_name, schema) => {
    expect(() => projectSchemaToJsonSchema(schema)).not.toThrow();
    expect(() => zodToJsonSchema(schema)).not.toThrow();
  });

  it('a lost node does not take its neighbours along', () => {
    const onFallback = vi.fn();
    const bad = { _zod: { def: { type: 'optional', get innerType() { return boom(); } } } };
    const schema = z4.object({ good: z4.string(), list: z4.array(bad as AnyZod), after: z4.map(z4.any(), z4.any()) });
    expect(zodToJsonSchema(schema, { onFallback })['properties']).toEqual({
      good: { type: 'string' },
      list: { type: 'array', items: {} },
      after: {},
    });
    expect(onFallback.mock.calls.map(([f]) => f)).toEqual([
      { detail: 'zod-v4:optional', path: ['list', '*'] },
      { detail: 'zod-v4:map', path: ['after'] },
    ]);
  });

  it('a property whose getter throws keeps its place', () => {
    const shape = Object.defineProperty({ a: z4.string() }, 'b', { get: boom, enumerable: true });
    const schema = { _zod: { def: { type: 'object', shape } } };
    expect(zodToJsonSchema(schema)).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: {} },
      required: ['a', 'b'],
    });
  });

  it("an error of the caller's own callback passes through", () => {
    expect(() => zodToJsonSchema(z4.object({ a: z4.map(z4.any(), z4.any()) }), { onUnsupported: boom })).toThrow('no');
  });

  it('a definition that unfolds without end stays bounded', () => {
    let node: AnyZod = z4.string();
    for (let level = 0; level < 22; level += 1) node = z4.tuple([node, node]);
    const onUnsupported = vi.fn();
    const started = performance.now();
    zodToJsonSchema(node, { onUnsupported });
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(onUnsupported.mock.calls).toEqual([['max-nodes']]);
  });

  it('a property named __proto__ is a property', () => {
    const shape = Object.fromEntries([['__proto__', z4.string()]]);
    const node = zodToJsonSchema({ _zod: { def: { type: 'object', shape } } });
    expect(Object.keys(node['properties'] as object)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(node['properties'])).toBe(Object.prototype);
  });
});

describe('8.6 what the version of zod decides', () => {
  const cases: Array<[string, (z: AnyZod) => unknown, boolean, boolean]> = [
    ['catch', (z) => z.string().catch('x'), true, true],
    ['undefined', (z) => z.undefined(), true, false],
    ['union with undefined member', (z) => z.union([z.string(), z.undefined()]), true, false],
    ['preprocess of an optional', (z) => z.preprocess((v: unknown) => v, z.string().optional()), false, true],
  ];
  it.each(cases)('%s', (_name, make, in325, in46) => {
    const isOptional = (z: AnyZod): boolean => !('required' in zodToJsonSchema(z.object({ p: make(z) })));
    expect([isOptional(z325v4), isOptional(z4)]).toEqual([in325, in46]);
  });
});

describe('functions as Standard Schemas', () => {
  it('are asked for their JSON Schema side too', () => {
    const callable = Object.assign(() => 1, {
      '~standard': { version: 1, vendor: 't', validate: () => ({ value: 1 }), jsonSchema: { input: () => ({ type: 'string' }) } },
    });
    expect(projectSchemaToJsonSchema(callable)).toEqual({ type: 'string' });
  });
});
