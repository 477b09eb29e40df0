import { jsonSchema } from 'ferrule/schema';
import { describe, expect, it } from 'vitest';

/** What is promised is 50 ms; a busy machine with a debug build gets more. */
const LIMIT_MS = 500;

describe('P16 patterns and schemas that never end', () => {
  it.each([
    ['nested repetition', '^(a+)+$', `${'a'.repeat(40)}!`],
    ['in a look-ahead', '^(?=(a+)+$)', `${'a'.repeat(40)}!`],
    ['back-reference', '^(a|a)*\\1b', `${'a'.repeat(60)}!`],
    ['look-ahead and stars', '(?=a)(.*)*(.*)*z', 'a'.repeat(2_000)],
  ])('%s', (_name, pattern, value) => {
    for (const raw of [{ pattern }, { propertyNames: { pattern } }, { patternProperties: { [pattern]: false }, minProperties: 2 }]) {
      const schema = jsonSchema<unknown>(raw);
      const started = performance.now();
      const result = schema.safeParse('pattern' in raw ? value : { [value]: 1 });
      expect(performance.now() - started).toBeLessThan(LIMIT_MS);
      expect(result.success).toBe(false);
    }
  });

  it('a pattern too large to compile makes the schema unusable, quickly', () => {
    const started = performance.now();
    expect(jsonSchema({ pattern: '((a{500}){500}){500}' }).problem()?.code).toBe('invalid-schema');
    expect(performance.now() - started).toBeLessThan(LIMIT_MS);
  });

  it.each(['allOf', 'anyOf', 'oneOf'])('definitions that double through %s', (keyword) => {
    const $defs: Record<string, unknown> = { d40: { type: 'string' } };
    for (let i = 0; i < 40; i += 1) {
      const next = { $ref: `#/$defs/d${i + 1}` };
      $defs[`d${i}`] = { [keyword]: [next, next] };
    }
    for (const extra of [{}, { unevaluatedProperties: false }, { $schema: 'http://json-schema.org/draft-07/schema#' }]) {
      const schema = jsonSchema({ $defs, ...('$schema' in extra ? { allOf: [{ $ref: '#/$defs/d0' }] } : { $ref: '#/$defs/d0' }), ...extra });
      const started = performance.now();
      schema.safeParse(1);
      schema.safeParse('a');
      expect(performance.now() - started).toBeLessThan(2 * LIMIT_MS);
    }
  });
});
