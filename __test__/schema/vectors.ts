/**
 * The rows of spec 01 section 8.5: what to build with a given zod, what it projects to, what is
 * reported. Key order counts; the specs compare `JSON.stringify` as well.
 */

/** One row. `reports` defaults to none. */
export interface Row {
  readonly name: string;
  readonly schema: unknown;
  readonly expected: Record<string, unknown>;
  readonly reports?: readonly string[];
}

// The rows run against several copies of zod, whose types differ.
// oxlint-disable-next-line no-explicit-any
export type AnyZod = any;

const row = (
  name: string,
  schema: unknown,
  expected: Record<string, unknown>,
  reports: readonly string[] = [],
): Row => ({ name, schema, expected, reports });

const STRING = { type: 'string' };
const NUMBER = { type: 'number' };
const NULL = { type: 'null' };

/** Rows that hold in both lines. */
export function commonRows(z: AnyZod): Row[] {
  return [
    row('string', z.string(), STRING),
    row('string min', z.string().min(2), { type: 'string', minLength: 2 }),
    row('string max', z.string().max(3), { type: 'string', maxLength: 3 }),
    row('string length', z.string().length(4), { type: 'string', minLength: 4, maxLength: 4 }),
    row('string nonempty', z.string().nonempty(), { type: 'string', minLength: 1 }),
    row('string regex', z.string().regex(/^a+$/gi), { type: 'string', pattern: '^a+$' }),
    row('string regex twice', z.string().regex(/a/).regex(/b/), { type: 'string', pattern: 'b' }),
    row('string email', z.string().email(), { type: 'string', format: 'email' }),
    row('string url', z.string().url(), { type: 'string', format: 'uri' }),
    row('string uuid', z.string().uuid(), { type: 'string', format: 'uuid' }),
    row('string datetime', z.string().datetime(), { type: 'string', format: 'date-time' }),
    row('string date', z.string().date(), { type: 'string', format: 'date' }),
    row('string time', z.string().time(), { type: 'string', format: 'time' }),
    row('string duration', z.string().duration(), { type: 'string', format: 'duration' }),
    row('string startsWith', z.string().startsWith('a').endsWith('b').includes('c'), STRING),
    row('string trim', z.string().trim().toLowerCase().toUpperCase(), STRING),
    row('string base64', z.string().base64(), STRING),
    row('string cuid', z.string().cuid(), STRING),
    row('string cuid2', z.string().cuid2(), STRING),
    row('string ulid', z.string().ulid(), STRING),
    row('string nanoid', z.string().nanoid(), STRING),
    row('string emoji', z.string().emoji(), STRING),
    row('number', z.number(), NUMBER),
    row('number int', z.number().int(), { type: 'integer' }),
    row('number min max', z.number().min(1).max(9), { type: 'number', minimum: 1, maximum: 9 }),
    row('number gt lt', z.number().gt(1).lt(9), { type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 9 }),
    row('number positive', z.number().positive(), { type: 'number', exclusiveMinimum: 0 }),
    row('number negative', z.number().negative(), { type: 'number', exclusiveMaximum: 0 }),
    row('number nonnegative', z.number().nonnegative(), { type: 'number', minimum: 0 }),
    row('number nonpositive', z.number().nonpositive(), { type: 'number', maximum: 0 }),
    row('number bounds repeated', z.number().min(1).min(5).gt(2), { type: 'number', minimum: 5, exclusiveMinimum: 2 }),
    row('number multipleOf', z.number().multipleOf(5), { type: 'number', multipleOf: 5 }),
    row('number finite', z.number().finite(), NUMBER),
    row('bigint', z.bigint().min(1n), { type: 'integer' }),
    row('boolean', z.boolean(), { type: 'boolean' }),
    row('date', z.date().min(new Date(0)), { type: 'string', format: 'date-time' }),
    row('null', z.null(), NULL),
    row('nan', z.nan(), NUMBER),
    row('any', z.any(), {}),
    row('unknown', z.unknown(), {}),
    row('undefined', z.undefined(), {}),
    row('void', z.void(), {}),
    row('never', z.never(), { not: {} }),
    row('coerce.number', z.coerce.number(), NUMBER),
    row('coerce.date', z.coerce.date(), { type: 'string', format: 'date-time' }),
    row('literal string', z.literal('a'), { type: 'string', const: 'a' }),
    row('literal number', z.literal(3), { type: 'number', const: 3 }),
    row('literal boolean', z.literal(true), { type: 'boolean', const: true }),
    row('literal null', z.literal(null), { type: 'null', const: null }),
    row('literal bigint', z.literal(5n), { type: 'integer', const: 5 }),
    row('object empty', z.object({}), { type: 'object', properties: {} }),
    row('object strict', z.object({ a: z.string() }).strict(), {
      type: 'object',
      properties: { a: STRING },
      required: ['a'],
      additionalProperties: false,
    }),
    row('object catchall', z.object({}).catchall(z.number()), {
      type: 'object',
      properties: {},
      additionalProperties: NUMBER,
    }),
    row('array', z.array(z.string()), { type: 'array', items: STRING }),
    row('array bounds', z.array(z.string()).min(1).max(3), { type: 'array', items: STRING, minItems: 1, maxItems: 3 }),
    row('array length', z.array(z.string()).length(2), { type: 'array', items: STRING, minItems: 2, maxItems: 2 }),
    row('array nonempty', z.array(z.string()).nonempty(), { type: 'array', items: STRING, minItems: 1 }),
    row('tuple', z.tuple([z.string(), z.number()]), { type: 'array', prefixItems: [STRING, NUMBER] }),
    row('tuple rest', z.tuple([z.string()]).rest(z.number()), { type: 'array', prefixItems: [STRING], items: NUMBER }),
    row('record', z.record(z.string(), z.number()), { type: 'object', additionalProperties: NUMBER }),
    row('record enum keys', z.record(z.enum(['a', 'b']), z.number()), { type: 'object', additionalProperties: NUMBER }),
    row('set', z.set(z.string()), { type: 'array', uniqueItems: true, items: STRING }),
    row('union', z.union([z.string(), z.number()]), { anyOf: [STRING, NUMBER] }),
    row('or', z.string().or(z.number()), { anyOf: [STRING, NUMBER] }),
    row(
      'discriminatedUnion',
      z.discriminatedUnion('t', [
        z.object({ t: z.literal('a') }),
        z.object({ t: z.literal('b'), n: z.number() }),
      ]),
      {
        anyOf: [
          { type: 'object', properties: { t: { type: 'string', const: 'a' } }, required: ['t'] },
          { type: 'object', properties: { t: { type: 'string', const: 'b' }, n: NUMBER }, required: ['t', 'n'] },
        ],
      },
    ),
    row('intersection', z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })), {
      allOf: [
        { type: 'object', properties: { a: STRING }, required: ['a'] },
        { type: 'object', properties: { b: NUMBER }, required: ['b'] },
      ],
    }),
    row('optional', z.string().optional(), STRING),
    row('nullable', z.string().nullable(), { anyOf: [STRING, NULL] }),
    row('nullable of nullable', z.string().nullable().nullable(), { anyOf: [STRING, NULL] }),
    row('nullable of null', z.null().nullable(), { anyOf: [NULL, NULL] }),
    row('nullable of any', z.any().nullable(), { anyOf: [{}, NULL] }),
    row('nullish', z.string().nullish(), { anyOf: [STRING, NULL] }),
    row('default', z.string().default('x'), { type: 'string', default: 'x' }),
    row('default factory', z.number().default(() => 7), { type: 'number', default: 7 }),
    row('default twice', z.string().default('a').default('b'), { type: 'string', default: 'b' }),
    row('catch', z.string().catch('x'), STRING),
    row('refine', z.string().refine(() => true), STRING),
    row('superRefine', z.string().superRefine(() => undefined), STRING),
    row('transform', z.string().transform((s: string) => s.length), STRING),
    row('brand', z.string().brand('b'), STRING),
    row('readonly', z.array(z.string()).readonly(), { type: 'array', items: STRING }),
    row('pipe', z.string().pipe(z.coerce.number()), STRING),
    row('promise', z.promise(z.string()), STRING),
    row('lazy', z.lazy(() => z.string()), STRING),
    row(
      'lazy that throws',
      z.lazy(() => {
        throw new Error('no');
      }),
      {},
      ['lazy-getter-threw'],
    ),
  ];
}

/** Rows of zod 3 alone. */
export function v3Rows(z: AnyZod): Row[] {
  return [
    row('string ip', z.string().ip(), STRING),
    row('number safe', z.number().safe(), { type: 'number', minimum: -9007199254740991, maximum: 9007199254740991 }),
    row('literal undefined', z.literal(undefined), { const: undefined }),
    row('enum', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }),
    row('enum empty', z.enum([]), { type: 'string', enum: [] }),
    row('nativeEnum strings', z.nativeEnum({ A: 'a', B: 'b' }), { enum: ['a', 'b'], type: 'string' }),
    row('nativeEnum numbers', z.nativeEnum({ A: 0, B: 1, 0: 'A', 1: 'B' }), { enum: [0, 1], type: 'number' }),
    row('nativeEnum mixed', z.nativeEnum({ A: 'a', B: 1, 1: 'B' }), { enum: ['a', 1] }),
    row('object passthrough', z.object({}).passthrough(), { type: 'object', properties: {}, additionalProperties: true }),
    row('object catchall never', z.object({}).catchall(z.never()), { type: 'object', properties: {} }),
    row('map', z.map(z.string(), z.string()), {}, ['zod-v3:ZodMap']),
    row('set bounds', z.set(z.string()).min(1).max(2), { type: 'array', uniqueItems: true, items: STRING, minItems: 1, maxItems: 2 }),
    row('set size', z.set(z.string()).size(3), { type: 'array', uniqueItems: true, items: STRING, minItems: 3, maxItems: 3 }),
    row('preprocess', z.preprocess((v: unknown) => v, z.string()), STRING),
    row('custom', z.custom(() => true), {}),
    row('instanceof', z.instanceof(Date), {}),
    row('symbol', z.symbol(), {}, ['zod-v3:ZodSymbol']),
    row('function', z.function(), {}, ['zod-v3:ZodFunction']),
    row('nullable described inside', z.string().describe('in').nullable(), {
      description: 'in',
      anyOf: [{ description: 'in', type: 'string' }, NULL],
    }),
  ];
}

/** Rows of zod 4 alone, in every version. */
export function v4Rows(z: AnyZod): Row[] {
  return [
    row('email()', z.email(), { type: 'string', format: 'email' }),
    row('url()', z.url(), { type: 'string', format: 'uri' }),
    row('uuid()', z.uuid(), { type: 'string', format: 'uuid' }),
    row('uuidv4()', z.uuidv4(), { type: 'string', format: 'uuid' }),
    row('guid()', z.guid(), { type: 'string', format: 'uuid' }),
    row('ipv4()', z.ipv4(), { type: 'string', format: 'ipv4' }),
    row('ipv6()', z.ipv6(), { type: 'string', format: 'ipv6' }),
    row('iso.datetime()', z.iso.datetime(), { type: 'string', format: 'date-time' }),
    row('iso.date()', z.iso.date(), { type: 'string', format: 'date' }),
    row('iso.time()', z.iso.time(), { type: 'string', format: 'time' }),
    row('iso.duration()', z.iso.duration(), { type: 'string', format: 'duration' }),
    row('cidrv4()', z.cidrv4(), STRING),
    row('jwt()', z.jwt(), STRING),
    row('e164()', z.e164(), STRING),
    row('number safe', z.number().safe(), { type: 'integer' }),
    row('int()', z.int(), { type: 'integer' }),
    row('int32()', z.int32(), { type: 'integer' }),
    row('uint32()', z.uint32(), { type: 'integer' }),
    row('float32()', z.float32(), NUMBER),
    row('float64()', z.float64(), NUMBER),
    row('int64()', z.int64(), { type: 'integer' }),
    row('literal undefined', z.literal(undefined), { enum: [] }),
    row('literal list', z.literal(['a', 1, null, true, 2n]), { enum: ['a', 1, null, true] }),
    row('literal list of one', z.literal(['a', undefined]), { type: 'string', const: 'a' }),
    row('enum', z.enum(['a', 'b']), { enum: ['a', 'b'], type: 'string' }),
    row('enum empty', z.enum([]), { enum: [], type: 'string' }),
    row('enum object', z.enum({ A: 0, B: 1, 0: 'A', 1: 'B' }), { enum: ['A', 'B', 0, 1] }),
    row('enum numbers', z.enum({ A: 5, B: 6 }), { enum: [5, 6], type: 'number' }),
    row('strictObject', z.strictObject({}), { type: 'object', properties: {}, additionalProperties: false }),
    row('looseObject', z.looseObject({}), { type: 'object', properties: {}, additionalProperties: {} }),
    row('passthrough', z.object({}).passthrough(), { type: 'object', properties: {}, additionalProperties: {} }),
    row('catchall never', z.object({}).catchall(z.never()), { type: 'object', properties: {}, additionalProperties: false }),
    row('partialRecord', z.partialRecord(z.enum(['a']), z.number()), { type: 'object', additionalProperties: NUMBER }),
    row('map', z.map(z.string(), z.string()), {}, ['zod-v4:map']),
    row('set bounds', z.set(z.string()).min(1).max(2), { type: 'array', uniqueItems: true, items: STRING }),
    row('nonoptional', z.string().optional().nonoptional(), STRING),
    row('prefault', z.string().prefault('x'), { type: 'string', default: 'x' }),
    row('preprocess', z.preprocess((v: unknown) => v, z.string()), {}, ['zod-v4:transform']),
    row('transform alone', z.transform((v: unknown) => v), {}, ['zod-v4:transform']),
    row('stringbool', z.stringbool(), STRING),
    row('custom', z.custom(() => true), {}, ['zod-v4:custom']),
    row('instanceof', z.instanceof(Date), {}, ['zod-v4:custom']),
    row('symbol', z.symbol(), {}, ['zod-v4:symbol']),
    row('file', z.file(), {}, ['zod-v4:file']),
    row('templateLiteral', z.templateLiteral(['a', z.number()]), STRING),
    row('success', z.success(z.string()), { type: 'boolean' }),
    row('json()', z.json(), {
      anyOf: [STRING, NUMBER, { type: 'boolean' }, NULL, { type: 'array', items: {} }, { type: 'object', additionalProperties: {} }],
    }),
    row('nullable described inside', z.string().describe('in').nullable(), {
      anyOf: [{ description: 'in', type: 'string' }, NULL],
    }),
  ];
}

/** Property schemas of section 8.6 with whether a caller may leave them out, by zod 3's rules. */
export function v3Optionality(z: AnyZod): Array<[string, unknown, boolean]> {
  return [
    ['optional', z.string().optional(), true],
    ['default', z.string().default('x'), true],
    ['catch', z.string().catch('x'), true],
    ['undefined', z.undefined(), true],
    ['nullish', z.string().nullish(), true],
    ['optional nullable', z.string().optional().nullable(), true],
    ['optional readonly', z.string().optional().readonly(), true],
    ['optional branded', z.string().optional().brand('b'), true],
    ['optional refined', z.string().optional().refine(() => true), true],
    ['optional transformed', z.string().optional().transform((v: unknown) => v), true],
    ['preprocessed optional', z.preprocess((v: unknown) => v, z.string().optional()), true],
    ['optional piped', z.string().optional().pipe(z.any()), true],
    ['lazy optional', z.lazy(() => z.string().optional()), true],
    ['lazy that throws', z.lazy(() => { throw new Error('no'); }), false],
    ['any', z.any(), false],
    ['unknown', z.unknown(), false],
    ['void', z.void(), false],
    ['union with undefined', z.union([z.string(), z.undefined()]), false],
    ['union with optional', z.union([z.string(), z.number().optional()]), false],
    ['intersection', z.intersection(z.any(), z.any()), false],
    ['literal undefined', z.literal(undefined), false],
    ['promise', z.promise(z.string().optional()), false],
    ['nullable', z.string().nullable(), false],
    ['string', z.string(), false],
  ];
}

/** The same for zod 4, for what every version agrees on. */
export function v4Optionality(z: AnyZod): Array<[string, unknown, boolean]> {
  return [
    ['optional', z.string().optional(), true],
    ['nullish', z.string().nullish(), true],
    ['lazy optional', z.lazy(() => z.string().optional()), true],
    ['optional refined', z.string().optional().refine(() => true), true],
    ['optional transformed', z.string().optional().transform((v: unknown) => v), true],
    ['optional piped', z.string().optional().pipe(z.any()), true],
    ['optional readonly', z.string().optional().readonly(), true],
    ['default', z.string().default('x'), true],
    ['prefault', z.string().prefault('x'), true],
    ['default nullable', z.string().default('x').nullable(), true],
    ['union with optional', z.union([z.string(), z.number().optional()]), true],
    ['any', z.any(), false],
    ['unknown', z.unknown(), false],
    ['void', z.void(), false],
    ['literal undefined', z.literal(undefined), false],
    ['success', z.success(z.string()), false],
    ['nonoptional', z.string().optional().nonoptional(), false],
    ['string', z.string(), false],
  ];
}
