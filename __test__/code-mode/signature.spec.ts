import { projectToolApi } from 'ferrule/code-mode';
import fc from 'fast-check';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { z as z4 } from 'zod';
import { z as z3 } from 'zod3';

/** The input type of a tool with this schema, and the `type …` lines that follow. */
function typeOf(inputSchema: unknown): { type: string; lines: string[]; block: string } {
  const block = projectToolApi([{ name: 't', description: 'd', inputSchema }]).signatureFor('t') ?? '';
  const [, signature = '', ...lines] = block.split('\n');
  const match = /^tools\.t = \(input: (.*)\): Promise<unknown>$/.exec(signature);
  return { type: match?.[1] ?? `no match: ${signature}`, lines, block };
}

/** Whether a block is TypeScript that parses. */
function syntaxErrors(block: string): unknown[] {
  const source = block.replace(/^(tools.*?) = (\(input.*)$/ms, (_all, _access: string, rest: string) => {
    const [signature = '', ...lines] = rest.split('\n');
    return `declare const f: ${signature.replace(/\): Promise/, ') => Promise')};\n${lines.join('\n')}`;
  });
  const file = ts.createSourceFile('x.ts', source, ts.ScriptTarget.Latest) as ts.SourceFile & { parseDiagnostics: unknown[] };
  return file.parseDiagnostics;
}

const OBJECT = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };

describe('6.2 rendering', () => {
  it.each<[string, unknown, string]>([
    ['no schema', undefined, 'unknown'],
    ['opaque validator', { parse: () => 1, safeParse: () => ({}) }, 'unknown'],
    ['string', { type: 'string' }, 'string'],
    ['number', { type: 'number' }, 'number'],
    ['integer', { type: 'integer' }, 'number'],
    ['boolean', { type: 'boolean' }, 'boolean'],
    ['null', { type: 'null' }, 'null'],
    ['enum', { enum: ['a', 1, null, true] }, '"a" | 1 | null | true'],
    ['enum wins over type', { type: 'string', enum: ['a'] }, '"a"'],
    ['empty enum', { type: 'string', enum: [] }, 'string'],
    ['enum of lone surrogates', { enum: ['\ud83d'] }, '"\\ud83d"'],
    ['enum of odd numbers', { enum: [1e21, 0.1, -0] }, '1e+21 | 0.1 | 0'],
    ['array', { type: 'array', items: { type: 'string' } }, 'string[]'],
    ['array without items', { type: 'array' }, 'unknown[]'],
    ['array of enum', { type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
    ['array of array of union', { type: 'array', items: { type: 'array', items: { type: ['string', 'null'] } } }, '(string | null)[][]'],
    ['object', OBJECT, '{ "a": string }'],
    ['optional field', { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a'] }, '{ "a": string; "b"?: number }'],
    ['properties without type', { properties: { a: {} } }, '{ "a"?: unknown }'],
    ['boolean subschema', { type: 'object', properties: { a: true } }, '{ "a"?: unknown }'],
    ['quoted keys', { type: 'object', properties: { 'a"b': {}, 'c d': {} } }, '{ "a\\"b"?: unknown; "c d"?: unknown }'],
    ['no properties', { type: 'object' }, 'Record<string, unknown>'],
    ['empty properties', { type: 'object', properties: {} }, 'Record<string, unknown>'],
    ['empty schema', {}, 'unknown'],
    ['unknown type', { type: 'file' }, 'unknown'],
  ])('%s', (_name, schema, expected) => {
    expect(typeOf(schema).type).toBe(expected);
  });

  it.each<[string, unknown, string]>([
    ['anyOf', { anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string | number'],
    ['oneOf', { oneOf: [OBJECT, { type: 'null' }] }, '{ "a": string } | null'],
    ['union with an unknown branch', { anyOf: [{ type: 'string' }, {}] }, 'unknown'],
    ['same branch twice', { anyOf: [{ type: 'string' }, { type: 'string', minLength: 2 }] }, 'string'],
    ['allOf', { allOf: [OBJECT, { type: 'object', properties: { b: { type: 'number' } } }] }, '{ "a": string } & { "b"?: number }'],
    ['allOf of a union', { allOf: [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, OBJECT] }, '(string | number) & { "a": string }'],
    ['array of an intersection', { type: 'array', items: { allOf: [OBJECT, { type: 'object', properties: { b: {} } }] } }, '({ "a": string } & { "b"?: unknown })[]'],
    ['anyOf that only narrows', { ...OBJECT, anyOf: [{ required: ['a'] }, { required: ['b'] }] }, '{ "a": string }'],
    ['anyOf beside a bare object', { type: 'object', anyOf: [OBJECT, { type: 'object', properties: { b: {} } }] }, '{ "a": string } | { "b"?: unknown }'],
    ['type list', { type: ['string', 'null'] }, 'string | null'],
    ['type list with object', { type: ['object', 'null'], properties: { a: {} } }, '{ "a"?: unknown } | null'],
    ['const', { const: 'x' }, '"x"'],
    ['record', { type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    ['record of unknown', { type: 'object', additionalProperties: {} }, 'Record<string, unknown>'],
    ['pattern record', { type: 'object', patternProperties: { '^a': { type: 'string' }, '^b': { type: 'number' } } }, 'Record<string, string | number>'],
    ['tuple', { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] }, '[string, number]'],
    ['tuple with rest', { type: 'array', prefixItems: [{ type: 'string' }], items: { enum: [1, 2] } }, '[string, ...(1 | 2)[]]'],
    ['draft 7 tuple', { type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'number' } }, '[string, ...number[]]'],
    ['never', { not: {} }, 'never'],
    ['reference', { type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: { type: 'string' } } }, '{ "a"?: string }'],
    ['escaped pointer', { $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': { type: 'string' } } }, 'string'],
    ['dangling reference', { $ref: '#/$defs/A' }, 'unknown'],
    ['foreign reference', { $ref: 'http://x/y' }, 'unknown'],
    ['reference to a prototype', { $ref: '#/constructor/prototype' }, 'unknown'],
  ])('[BETTER] %s', (_name, schema, expected) => {
    expect(typeOf(schema).type).toBe(expected);
  });

  it.each([['zod 3', z3], ['zod 4', z4]] as const)('of %s', (_name, zod) => {
    const z = zod as unknown as typeof z4;
    const schema = z.object({
      q: z.string(),
      kind: z.enum(['a', 'b']).optional(),
      limit: z.number().int().default(5),
      when: z.date(),
      tags: z.array(z.enum(['x', 'y'])),
      unique: z.set(z.string()),
      maybe: z.string().nullable(),
      pair: z.tuple([z.string(), z.number()]),
      map: z.record(z.string(), z.number()),
      deep: z.object({ a: z.any() }).strict(),
    });
    expect(typeOf(schema).type).toBe(
      '{ "q": string; "kind"?: "a" | "b"; "limit"?: number; "when": string; "tags": ("x" | "y")[]; ' +
        '"unique": string[]; "maybe": string | null; "pair": [string, number]; "map": Record<string, number>; ' +
        '"deep": { "a": unknown } }',
    );
  });

  it('stops below depth 4', () => {
    const nest = (levels: number): unknown =>
      levels === 0 ? { type: 'string' } : { type: 'object', properties: { n: nest(levels - 1) } };
    expect(typeOf(nest(4)).type).toContain('string');
    expect(typeOf(nest(5)).type).toBe('{ "n"?: { "n"?: { "n"?: { "n"?: { "n"?: unknown } } } } }');
  });

  it('[BETTER] recursion becomes a named type', () => {
    const tree = { type: 'object', properties: { name: { type: 'string' }, kids: { type: 'array', items: { $ref: '#' } } }, required: ['name'] };
    expect(typeOf(tree)).toMatchObject({
      type: 'Input',
      lines: ['type Input = { "name": string; "kids"?: Input[] };'],
    });
    const nested = {
      type: 'object',
      properties: { root: { $ref: '#/$defs/tree node' } },
      $defs: { 'tree node': { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#/$defs/tree node' } } } } },
    };
    expect(typeOf(nested)).toMatchObject({
      type: '{ "root"?: Tree_node }',
      lines: ['type Tree_node = { "kids"?: Tree_node[] };'],
    });
    const mutual = {
      $ref: '#/$defs/A',
      $defs: { A: { type: 'object', properties: { b: { $ref: '#/$defs/B' } } }, B: { type: 'object', properties: { a: { $ref: '#/$defs/A' } } } },
    };
    expect(typeOf(mutual)).toMatchObject({
      type: 'A',
      lines: ['type A = { "b"?: B };', 'type B = { "a"?: A };'],
    });
  });

  it('input and output share no alias by accident', () => {
    const list = (extra: string): unknown => ({ type: 'object', title: 'List', properties: { [extra]: { type: 'string' }, next: { $ref: '#' } } });
    const api = projectToolApi([{ name: 't', inputSchema: list('a'), outputSchema: list('b') }]);
    expect(api.signatureFor('t')?.split('\n').slice(1)).toEqual([
      'tools.t = (input: List): Promise<List2>',
      'type List = { "a"?: string; "next"?: List };',
      'type List2 = { "b"?: string; "next"?: List2 };',
    ]);
  });

  it('definitions that unfold without end stay bounded', () => {
    const $defs: Record<string, unknown> = { d30: { type: 'string' } };
    for (let i = 0; i < 30; i += 1) {
      const next = { $ref: `#/$defs/d${i + 1}` };
      $defs[`d${i}`] = { type: 'object', properties: { a: next, b: next }, allOf: [next, next] };
    }
    const started = performance.now();
    expect(typeOf({ $ref: '#/$defs/d0', $defs }).type.length).toBeLessThan(1_000_000);
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it('a self-reference without content ends', () => {
    expect(typeOf({ $ref: '#' }).lines).toEqual(['type Input = unknown;']);
  });

  it('whatever the schema, the signature parses as TypeScript', () => {
    const leaf = fc.oneof(
      fc.constantFrom<unknown>({}, true, { type: 'string' }, { type: ['integer', 'null'] }, { not: {} }, { $ref: '#' }, { $ref: '#/properties/a' }),
      fc.record({ enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)), { minLength: 1, maxLength: 3 }) }),
      fc.record({ const: fc.string() }),
    );
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.record({ type: fc.constant('array'), items: tie('schema') }),
        fc.record({ type: fc.constant('array'), prefixItems: fc.array(tie('schema'), { maxLength: 3 }) }),
        fc.record({ type: fc.constant('object'), properties: fc.dictionary(fc.string(), tie('schema'), { maxKeys: 3 }) }),
        fc.record({ type: fc.constant('object'), additionalProperties: tie('schema') }),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
      ),
    }));
    fc.assert(
      fc.property(schema, fc.string(), (inputSchema, description) => {
        const { block } = typeOf(inputSchema);
        expect(syntaxErrors(block), block).toEqual([]);
        const described = projectToolApi([{ name: 'a.b', description, inputSchema }]).signatureFor('a.b') ?? '';
        expect(described.indexOf('*/')).toBe(described.split('\n')[0]!.length - 2);
      }),
      { numRuns: 200 },
    );
  });
});
