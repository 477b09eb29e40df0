import { toResultEnvelope } from 'ferrule/result';
import { describe, expect, it } from 'vitest';

// Spec 03 section 1.2 wants an empty body for undefined and null; it outranks the case.
describe('P36: empty and odd return values', () => {
  const text = (raw: unknown): string => toResultEnvelope<unknown>({ raw }).textBody;

  it.each<[string, unknown, string]>([
    ['undefined', undefined, ''],
    ['null', null, ''],
    ['the empty string', '', ''],
    ['an empty list', [], '[]'],
    ['a returned Error', new Error('x'), '{"name":"Error","message":"x"}'],
    ['a promise inside', { p: Promise.resolve(1) }, '{"p":"[object Promise]"}'],
    ['a function', () => 1, '[object Function]'],
    ['a symbol', Symbol('s'), '[object Symbol]'],
    ['NaN', Number.NaN, 'NaN'],
    ['a boolean', false, 'false'],
  ])('%s', (_name, raw, expected) => {
    expect(text(raw)).toBe(expected);
  });

  it('a value that cannot be read at all still has a text', () => {
    const hostile = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('no');
        },
      },
    );
    expect(text({ hostile })).toBe('{"hostile":"[Unreadable]"}');
    const thrower = {
      get bad(): never {
        throw new Error('no');
      },
      good: 1,
    };
    expect(text(thrower)).toBe('{"bad":"[Unreadable]","good":1}');
  });
});
