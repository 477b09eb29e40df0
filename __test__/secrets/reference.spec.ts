import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  GraphorinSecretsError,
  SecretRefParseError,
  SecretResolutionError,
  SecretValue,
  UnknownSchemeError,
  assertNotNakedString,
  envResolver,
  getResolver,
  listResolverSchemes,
  parseOrAssert,
  parseSecretRef,
  registerResolver,
  resolveSecret,
  unregisterResolver,
} from 'ferrule/secrets';

const caught = (fn: () => unknown): SecretRefParseError => {
  try {
    fn();
  } catch (error) {
    return error as SecretRefParseError;
  }
  throw new Error('nothing was thrown');
};

describe('6.6 parseSecretRef', () => {
  it('gives frozen parts; absent ones have no key', () => {
    const env = parseSecretRef('ENV:API_KEY');
    expect(env).toEqual({ raw: 'ENV:API_KEY', scheme: 'env', path: 'API_KEY', query: {} });
    expect(Object.keys(env)).toEqual(['raw', 'scheme', 'path', 'query']);
    expect(Object.isFrozen(env)).toBe(true);
    expect(Object.getPrototypeOf(env.query)).toBeNull();
    const full = parseSecretRef('vault+kv://host:1/a%20b/c?x=1&flag&x=2+3&__proto__=p#frag');
    expect(full).toMatchObject({ scheme: 'vault+kv', authority: 'host:1', path: '/a b/c', fragment: 'frag' });
    expect({ ...full.query }).toEqual({ x: '2 3', flag: '', ['__proto__']: 'p' });
    expect(parseSecretRef('vault://').authority).toBe('');
    expect(parseSecretRef('file:%e9').path).toBe('é');
    expect(parseSecretRef('file:a b+c').path).toBe('a b+c');
    expect(parseSecretRef('file:a#')).not.toHaveProperty('fragment');
  });

  it.each([
    ['', 'empty-input'],
    ['1env:A', 'invalid-scheme'],
    [':A', 'invalid-scheme'],
    ['e_nv:A', 'invalid-scheme'],
    ['plain', 'malformed-uri'],
    ['env:A\tB', 'malformed-uri'],
    ['env:\ud800', 'malformed-uri'],
    ['env:Ä', 'malformed-uri'],
    ['env:a<b', 'malformed-uri'],
    [undefined, 'malformed-uri'],
    [7, 'malformed-uri'],
    ['env://A', 'unexpected-authority'],
    ['keyring://A', 'unexpected-authority'],
    ['literal://A', 'unexpected-authority'],
    ['ref://A', 'unexpected-authority'],
    ['env:', 'empty-path'],
    ['file:?a=1', 'empty-path'],
    ['file:#a', 'empty-path'],
    ['env:%', 'invalid-percent-encoding'],
    ['env:%4', 'invalid-percent-encoding'],
    ['env:a?b=%G1', 'invalid-percent-encoding'],
  ])('%j: %s', (text, kind) => {
    const error = caught(() => parseSecretRef(text as string));
    expect(error).toBeInstanceOf(SecretRefParseError);
    expect(error).toBeInstanceOf(GraphorinSecretsError);
    expect(error).toMatchObject({ kind, input: text, name: 'SecretRefParseError' });
  });

  it('better: no message shows more than four characters of what may be a raw secret', () => {
    for (const text of ['sk-live-0123456789abcdef', 'sk:live 0123456789\nabcdef', '9sk-live-0123456789']) {
      const error = caught(() => parseSecretRef(text));
      expect(error.message).not.toContain(text.slice(0, 5));
      expect(error.input).toBe(text);
    }
  });

  it('assertNotNakedString shows four characters and the length, also in input', () => {
    for (const text of ['sk-live-0123456789abcdef', ':x-0123456789']) {
      const error = caught(() => assertNotNakedString(text));
      expect(error.kind).toBe('naked-string');
      for (const shown of [error.message, error.input]) {
        expect(shown).toContain(text.slice(0, 4));
        expect(shown).toContain(String(text.length));
        expect(shown).not.toContain(text.slice(0, 5));
      }
    }
    expect(assertNotNakedString('env:A')).toBeUndefined();
    expect(caught(() => parseOrAssert('naked')).kind).toBe('naked-string');
    expect(caught(() => parseOrAssert('env:')).kind).toBe('empty-path');
    expect(parseOrAssert('env:A').path).toBe('A');
  });
});

describe('6.6 resolvers', () => {
  const made = { scheme: 'Vault', resolve: vi.fn(async () => SecretValue.fromString('v')) };
  afterEach(() => {
    unregisterResolver('vault');
    registerResolver(envResolver);
    vi.unstubAllEnvs();
  });

  it('only env is there from the start', () => {
    expect(listResolverSchemes()).toEqual(['env']);
    expect(Object.isFrozen(listResolverSchemes())).toBe(true);
    expect(getResolver('ENV')).toBe(envResolver);
  });

  it('registers by lower-cased scheme, replaces, refuses, removes', () => {
    expect(registerResolver(made)).toBeUndefined();
    expect(listResolverSchemes()).toEqual(['env', 'vault']);
    const other = { ...made, scheme: 'vault' };
    expect(registerResolver(other)).toBe(made);
    expect(() => registerResolver(made, { allowReplace: false })).toThrow(/already registered/);
    expect(() => registerResolver({ ...made, scheme: '' })).toThrow(/non-empty/);
    expect(unregisterResolver('VAULT')).toBe(true);
    expect(unregisterResolver('vault')).toBe(false);
  });

  it('env: variable, default, neither', async () => {
    vi.stubEnv('FERRULE_TEST_SECRET', 'from-env');
    const value = await resolveSecret('env:FERRULE_TEST_SECRET?default=d');
    expect(value.reveal()).toBe('from-env');
    expect(value.source).toEqual({ resolver: 'env', ref: 'env:FERRULE_TEST_SECRET?default=d' });
    expect((await resolveSecret('env:FERRULE_TEST_MISSING?default=d+e')).reveal()).toBe('d e');
    for (const name of ['__proto__', 'toString', 'constructor']) {
      expect((await resolveSecret(`env:${name}?default=d`)).reveal()).toBe('d');
      await expect(resolveSecret(`env:${name}`)).rejects.toThrow(SecretResolutionError);
    }
    const failed = await resolveSecret('env:FERRULE_TEST_MISSING').catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(SecretResolutionError);
    expect(failed).toMatchObject({ kind: 'resolution-failed', scheme: 'env', ref: 'env:FERRULE_TEST_MISSING' });
    expect((failed as Error).message).toContain('FERRULE_TEST_MISSING');
  });

  it('hands parsed reference and context to the resolver, as a method', async () => {
    const seen: unknown[] = [];
    const resolver = {
      scheme: 'vault',
      async resolve(...args: unknown[]) {
        seen.push(this, ...args);
        return SecretValue.fromString('x');
      },
    };
    registerResolver(resolver);
    const ctx = { run: 1 };
    const parsed = parseSecretRef('vault:a');
    await resolveSecret(parsed, ctx);
    expect(seen[0]).toBe(resolver);
    expect(seen[1]).toBe(parsed);
    expect(seen[2]).toBe(ctx);
  });

  it('rejects, never throws: no reference, unknown scheme, a resolver’s Error, any other value', async () => {
    await expect(resolveSecret('naked-secret-value')).rejects.toMatchObject({ kind: 'naked-string' });
    await expect(resolveSecret('nope:a')).rejects.toMatchObject({ kind: 'unknown-scheme', scheme: 'nope', ref: 'nope:a', hint: expect.any(String) as string });
    await expect(resolveSecret('nope:a')).rejects.toBeInstanceOf(UnknownSchemeError);
    const boom = new TypeError('boom');
    registerResolver({ scheme: 'vault', resolve: () => { throw boom; } });
    await expect(resolveSecret('vault:a')).rejects.toBe(boom);
    registerResolver({ scheme: 'vault', resolve: () => Promise.reject('text') });
    await expect(resolveSecret('vault:a')).rejects.toMatchObject({
      kind: 'resolution-failed',
      scheme: 'vault',
      ref: 'vault:a',
      cause: 'text',
      hint: expect.any(String) as string,
      message: expect.stringContaining('text') as string,
    });
  });
});
