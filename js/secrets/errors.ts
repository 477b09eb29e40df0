/**
 * Errors of the secrets room. None of them ever carries a secret's value.
 *
 * @packageDocumentation
 */
import { GraphorinSecretsError } from '../errors/security-base.js';

export { GraphorinSecretsError } from '../errors/security-base.js';
export type { GraphorinSecretsErrorOptions } from '../errors/security-base.js';

/** A tool asked for a secret its `secretsAllowed` does not list. Kind `secret-access-denied`. */
export class SecretAccessDeniedError extends GraphorinSecretsError {
  /** The key that was asked for. */
  readonly key: string;
  /** The tool that asked. */
  readonly toolName: string;
  /** What the tool may read: a frozen copy of its effective list. */
  readonly allowedSet: readonly string[];

  constructor(key: string, toolName: string, allowedSet: Iterable<string>) {
    super(
      'secret-access-denied',
      `Tool '${toolName}' is not allowed to access secret '${key}' (missing from secretsAllowed).`,
      { hint: `Add '${key}' to the tool's secretsAllowed list, or rotate the secret behind a different key.` },
    );
    this.key = key;
    this.toolName = toolName;
    this.allowedSet = Object.freeze([...allowedSet]);
  }
}

/** A secret that must exist does not. Kind `secret-required`. */
export class SecretRequiredError extends GraphorinSecretsError {
  /** The key that was asked for. */
  readonly key: string;

  constructor(key: string) {
    super('secret-required', `Secret '${key}' is required but not set.`, {
      hint: `Set '${key}' in the secrets store this run uses.`,
    });
    this.key = key;
  }
}

/** The in-memory store was made while `NODE_ENV` is `production`. Kind `memory-store-in-production`. */
export class MemoryStoreInProductionError extends GraphorinSecretsError {
  constructor() {
    super(
      'memory-store-in-production',
      'MemorySecretsStore keeps secrets in plain process memory and is refused when NODE_ENV is "production".',
      { hint: 'Use a durable store, or pass { forceProduction: true } to accept the risk.' },
    );
  }
}

/** Why a text is not a secret reference. */
export type SecretRefParseErrorKind =
  | 'empty-input'
  | 'invalid-scheme'
  | 'malformed-uri'
  | 'unexpected-authority'
  | 'empty-path'
  | 'invalid-percent-encoding'
  | 'naked-string';

/** A text that is no secret reference. `kind` says why. */
export class SecretRefParseError extends GraphorinSecretsError {
  declare readonly kind: SecretRefParseErrorKind;
  /**
   * What was parsed. For `naked-string` only its beginning, since a text without a scheme is most
   * often the secret itself.
   */
  readonly input: string;
  /** Where the fault is, in UTF-16 units; absent when it has no single place. */
  declare readonly position?: number;

  constructor(
    kind: SecretRefParseErrorKind,
    message: string,
    input: string,
    options: { readonly position?: number; readonly hint?: string } = {},
  ) {
    super(kind, message, options.hint === undefined ? {} : { hint: options.hint });
    this.input = input;
    if (options.position !== undefined) this.position = options.position;
  }
}

/** No resolver is registered for a reference's scheme. Kind `unknown-scheme`. */
export class UnknownSchemeError extends GraphorinSecretsError {
  /** The scheme, in lower case. */
  readonly scheme: string;
  /** The reference as it was written. */
  readonly ref: string;

  constructor(scheme: string, ref: string, known: readonly string[] = []) {
    const list = known.length === 0 ? 'none' : known.join(', ');
    super('unknown-scheme', `No secret resolver is registered for the scheme '${scheme}'.`, {
      hint: `Register one with registerResolver(); registered now: ${list}.`,
    });
    this.scheme = scheme;
    this.ref = ref;
  }
}

/** A resolver could not produce the secret. Kind `resolution-failed`. */
export class SecretResolutionError extends GraphorinSecretsError {
  /** The scheme, in lower case. */
  readonly scheme: string;
  /** The reference as it was written. */
  readonly ref: string;

  constructor(
    scheme: string,
    ref: string,
    reason: string,
    options: { readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super('resolution-failed', `Cannot resolve the secret reference '${ref}': ${reason}`, options);
    this.scheme = scheme;
    this.ref = ref;
  }
}
