/**
 * Resolvers: what turns a reference into the secret, one for each scheme.
 *
 * @packageDocumentation
 */
import { SecretResolutionError, UnknownSchemeError } from './errors.js';
import { parseOrAssert, type ParsedSecretRef } from './reference.js';
import { SecretValue } from './value.js';

/** Turns references of one scheme into secrets. */
export interface SecretResolver {
  /** Any case; compared in lower case. */
  readonly scheme: string;
  /** Called as a method. `ctx` is what was given to {@link resolveSecret}. */
  resolve(ref: ParsedSecretRef, ctx?: unknown): Promise<SecretValue>;
}

/** Options of {@link registerResolver}. */
export interface RegisterResolverOptions {
  /** Whether a resolver of the same scheme may be replaced. Default true. */
  readonly allowReplace?: boolean;
}

/** What an object inherits is no variable: `process.env.constructor` is a function. */
function own(values: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/**
 * Resolves `env:NAME` to an environment variable; with `?default=…`, to that when it is not set.
 * Rejects with {@link SecretResolutionError} when there is neither.
 */
export const envResolver: SecretResolver = Object.freeze<SecretResolver>({
  scheme: 'env',
  async resolve(ref) {
    const raw = own(process.env, ref.path) ?? own(ref.query, 'default');
    if (raw === undefined) {
      throw new SecretResolutionError(ref.scheme, ref.raw, `the environment variable '${ref.path}' is not set`, {
        hint: `Set ${ref.path} in the environment of this process, or write env:${ref.path}?default=….`,
      });
    }
    return SecretValue.fromString(raw, { source: { resolver: 'env', ref: ref.raw } });
  },
});

const resolvers = new Map<string, SecretResolver>([['env', envResolver]]);

/**
 * Registers the resolver of a scheme.
 *
 * @returns the one it replaces, or undefined. Throws an `Error` for an empty scheme, and when there is
 *   one already and replacing is off.
 */
export function registerResolver(
  resolver: SecretResolver,
  options: RegisterResolverOptions = {},
): SecretResolver | undefined {
  const scheme = String(resolver.scheme ?? '').toLowerCase();
  if (scheme === '') throw new Error('A secret resolver needs a non-empty scheme.');
  const known = resolvers.get(scheme);
  if (known !== undefined && options.allowReplace === false) {
    throw new Error(`A secret resolver for the scheme '${scheme}' is already registered.`);
  }
  resolvers.set(scheme, resolver);
  return known;
}

/** Removes the resolver of a scheme; tells whether there was one. */
export function unregisterResolver(scheme: string): boolean {
  return resolvers.delete(scheme.toLowerCase());
}

/** The resolver of a scheme, in any case, or undefined. */
export function getResolver(scheme: string): SecretResolver | undefined {
  return resolvers.get(scheme.toLowerCase());
}

/** The schemes that have a resolver; a frozen, sorted array. */
export function listResolverSchemes(): readonly string[] {
  return Object.freeze([...resolvers.keys()].sort());
}

/**
 * Resolves a reference, given as text or parsed. Rejects with `SecretRefParseError` for what is no
 * reference, {@link UnknownSchemeError} when no resolver is registered, whatever `Error` the resolver
 * fails with, and {@link SecretResolutionError} for anything else it throws.
 *
 * @param ctx handed to the resolver.
 * @example const token = await resolveSecret('env:API_TOKEN');
 */
export async function resolveSecret(ref: string | ParsedSecretRef, ctx?: unknown): Promise<SecretValue> {
  const parsed = typeof ref === 'string' ? parseOrAssert(ref) : ref;
  const resolver = resolvers.get(parsed.scheme);
  if (resolver === undefined) throw new UnknownSchemeError(parsed.scheme, parsed.raw, listResolverSchemes());
  try {
    return await resolver.resolve(parsed, ctx);
  } catch (cause) {
    if (cause instanceof Error) throw cause;
    throw new SecretResolutionError(parsed.scheme, parsed.raw, String(cause), {
      hint: `The resolver for '${parsed.scheme}' threw a value that is not an Error.`,
      cause,
    });
  }
}

/**
 * Forgets what a store factory remembers. There is no factory here, so there is nothing to do; kept
 * for test suites that call it after each of their tests.
 */
export function _resetSecretsFactoryForTesting(): void {
  // Nothing is remembered.
}
