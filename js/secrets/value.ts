/**
 * A secret that does not show itself, and the scope in which a raw secret is lent out.
 *
 * @packageDocumentation
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { builtins } from '../builtins.js';
import { NODEJS_INSPECT_CUSTOM, SECRET_VALUE_BRAND, type SecretValue as SecretValueLike } from '../core/index.js';
import { createListenerSet } from '../core/listeners.js';
import { getActiveToolSecretsContext } from './context.js';

/** Where a value came from. Never the value. */
export interface SecretValueSource {
  /** Which resolver or store. */
  readonly resolver?: string;
  /** The reference it was asked for by. */
  readonly ref?: string;
}

/** Options of {@link SecretValue.fromString} and {@link SecretValue.fromBuffer}. */
export interface SecretValueOptions {
  /** Where the value comes from, for audit events. */
  readonly source?: SecretValueSource;
  /** How long the value may be kept, in milliseconds. For the caller; nothing here expires it. */
  readonly ttlMs?: number;
}

/** One access to a value. */
export interface SecretValueAuditEvent {
  /** What was done with the value. */
  readonly action: 'construct' | 'use' | 'use-buffer' | 'reveal' | 'dispose';
  /** Length of the value in bytes. */
  readonly length: number;
  /** Epoch milliseconds. */
  readonly ts: number;
  /** Where the value came from. */
  readonly source?: SecretValueSource;
  /** The `withSecret` scope it happened in. */
  readonly scopeId?: string;
  /** The scope's caller, or the tool that is running. Absent for `dispose`. */
  readonly caller?: string;
}
/** Hears every access. What it throws is ignored. */
export type SecretValueAuditListener = (event: SecretValueAuditEvent) => void;

/** One `withSecret` scope, when it has ended. */
export interface WithSecretAuditEvent {
  /** The secret was lent, or taken back. */
  readonly action: 'with-secret';
  /** Names the loan. */
  readonly scopeId: string;
  /** As given to `withSecret`, or the tool that is running. */
  readonly caller?: string;
  /** The tool that is running. */
  readonly toolName?: string;
  /** Milliseconds, fractional. */
  readonly durationMs: number;
  /** When it began, epoch milliseconds. */
  readonly ts: number;
}
/** Hears the end of every `withSecret` scope. What it throws is ignored. */
export type WithSecretListener = (event: WithSecretAuditEvent) => void;

interface LendingScope {
  readonly scopeId: string;
  readonly caller: string | undefined;
}

const lendings = new AsyncLocalStorage<LendingScope>();
const accesses = createListenerSet<SecretValueAuditEvent>();
const scopes = createListenerSet<WithSecretAuditEvent>();

const PLACEHOLDER = '[SECRET]';
const INSPECTED = 'SecretValue([REDACTED])';

/**
 * A secret. Text conversion, serialising, formatting and inspecting give a placeholder; the bytes are
 * reached through `use`, `useBuffer` and `reveal` only, and each of these is audited. They are in a
 * private field: not in any property, and not in a spread or structured clone.
 *
 * @example
 * const token = SecretValue.fromString(process.env.TOKEN ?? '');
 * await token.use((raw) => fetch(url, { headers: { authorization: `Bearer ${raw}` } }));
 * `${token}`; // '[SECRET]'
 */
export class SecretValue implements SecretValueLike {
  /** Where the value came from; the object that was passed in. Absent when none was. */
  declare readonly source?: SecretValueSource;
  /** When it was made, epoch milliseconds. */
  declare readonly fetchedAt: number;
  /** How long it may be kept, in milliseconds. Absent when nothing was said. */
  declare readonly ttlMs?: number;
  /** Always true; recognises values of other copies of this class, too. */
  declare readonly [SECRET_VALUE_BRAND]: true;
  readonly #bytes: Buffer;
  #disposed = false;

  private constructor(bytes: Buffer, options: SecretValueOptions) {
    this.#bytes = bytes;
    if (options.source !== undefined) this.source = options.source;
    this.fetchedAt = Date.now();
    if (options.ttlMs !== undefined) this.ttlMs = options.ttlMs;
    this.#audit('construct');
  }

  /** Makes a value of a text, kept as UTF-8. */
  static fromString(raw: string, options: SecretValueOptions = {}): SecretValue {
    // Not `Buffer.from`, which takes small buffers from the shared pool, too.
    const bytes = Buffer.alloc(Buffer.byteLength(raw));
    bytes.write(raw, 'utf8');
    return new SecretValue(bytes, options);
  }

  /** Makes a value of a copy of the bytes; no bytes at all is a value, too. */
  static fromBuffer(bytes: Uint8Array, options: SecretValueOptions = {}): SecretValue {
    return new SecretValue(copyOf(bytes), options);
  }

  /** Whether something is a secret value, of this copy of the class or another. */
  static isSecretValue(value: unknown): value is SecretValue {
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false;
    return (value as { readonly [SECRET_VALUE_BRAND]?: unknown })[SECRET_VALUE_BRAND] === true;
  }

  /**
   * Compares two values in time that does not depend on their contents. False when one is disposed,
   * their lengths differ, or one is not of this copy of the class.
   */
  static timingSafeEquals(a: SecretValue, b: SecretValue): boolean {
    // Values of another copy of the class keep their bytes from us.
    if (!(#bytes in a) || !(#bytes in b)) return false;
    if (a.#disposed || b.#disposed || a.length !== b.length) return false;
    return builtins.crypto().timingSafeEqual(a.#bytes, b.#bytes);
  }

  /** Length in bytes; stays after disposal. */
  get length(): number {
    return this.#bytes.length;
  }

  /** Whether the bytes are gone. */
  get disposed(): boolean {
    return this.#disposed;
  }

  /**
   * Lends the text to `fn`.
   *
   * @returns what `fn` returns or resolves to. Rejects when `fn` fails, or when the value is disposed.
   */
  async use<T>(fn: (raw: string) => T | Promise<T>): Promise<T> {
    this.#refuseDisposed();
    this.#audit('use');
    return fn(this.#bytes.toString('utf8'));
  }

  /**
   * Lends a copy of the bytes to `fn`, which may wipe it.
   *
   * @returns what `fn` returns or resolves to. Rejects when `fn` fails, or when the value is disposed.
   */
  async useBuffer<T>(fn: (bytes: Buffer) => T | Promise<T>): Promise<T> {
    this.#refuseDisposed();
    this.#audit('use-buffer');
    return fn(copyOf(this.#bytes));
  }

  /** The text. Prefer {@link SecretValue.use}, which says how long it is needed. Throws when disposed. */
  reveal(): string {
    this.#refuseDisposed();
    this.#audit('reveal');
    return this.#bytes.toString('utf8');
  }

  /** The secret as text. @deprecated Use {@link SecretValue.reveal}; this is the same. */
  unwrap(): string {
    return this.reveal();
  }

  /** Overwrites the bytes with zeros. Doing it twice does nothing. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#bytes.fill(0);
    this.#audit('dispose');
  }

  /** A placeholder. */
  toString(): string {
    return PLACEHOLDER;
  }

  /** A placeholder. */
  toJSON(): string {
    return PLACEHOLDER;
  }

  /** A placeholder; NaN where a number is asked for. */
  [Symbol.toPrimitive](hint: string): string | number {
    return hint === 'number' ? Number.NaN : PLACEHOLDER;
  }

  /** A placeholder. */
  [NODEJS_INSPECT_CUSTOM](): string {
    return INSPECTED;
  }

  #refuseDisposed(): void {
    if (this.#disposed) throw new Error('This SecretValue is disposed: its bytes have been wiped.');
  }

  #audit(action: SecretValueAuditEvent['action']): void {
    if (accesses.count() === 0) return;
    const lending = lendings.getStore();
    const caller = action === 'dispose' ? undefined : (lending?.caller ?? getActiveToolSecretsContext()?.toolName);
    const { source } = this;
    accesses.emit({
      action,
      length: this.length,
      ts: Date.now(),
      ...(source !== undefined && { source }),
      ...(lending !== undefined && { scopeId: lending.scopeId }),
      ...(caller !== undefined && { caller }),
    });
  }
}

// On the prototype, where own keys, spreads and prints do not meet it.
Object.defineProperty(SecretValue.prototype, SECRET_VALUE_BRAND, { value: true });

/** A copy in memory of its own: small buffers share one pool, whose neighbours a view could reach. */
function copyOf(bytes: Uint8Array): Buffer {
  const copy = Buffer.alloc(bytes.length);
  copy.set(bytes);
  return copy;
}

/**
 * Subscribes to every access to every secret value: construct, use, use-buffer, reveal, dispose.
 *
 * @returns what ends the subscription.
 */
export function onSecretValueAudit(listener: SecretValueAuditListener): () => void {
  return accesses.on(listener);
}

/** Removes every listener of {@link onSecretValueAudit}. For tests. */
export function _resetSecretValueAuditListenersForTesting(): void {
  accesses.reset();
}

/**
 * Lends a secret to `fn` in a scope of its own, and reports the scope when it has ended. A text is
 * wrapped for as long as the scope lasts; a {@link SecretValue} stays the caller's.
 *
 * @param options `caller`: who borrows; default the tool that is running.
 * @returns what `fn` returns or resolves to. What `fn` throws passes through.
 * @example
 * const user = await withSecret(token, (raw) => api.login(raw), { caller: 'login' });
 */
export async function withSecret<T>(
  value: string | SecretValue,
  fn: (raw: string) => T | Promise<T>,
  options: { readonly caller?: string } = {},
): Promise<T> {
  const wrapper =
    typeof value === 'string'
      ? SecretValue.fromString(value, { source: { resolver: 'inline', ref: 'inline:withSecret' } })
      : undefined;
  const secret = wrapper ?? (value as SecretValue);
  const toolName = getActiveToolSecretsContext()?.toolName;
  const caller = options.caller ?? toolName;
  const scopeId = builtins.crypto().randomUUID();
  const ts = Date.now();
  const start = performance.now();
  try {
    return await lendings.run({ scopeId, caller }, () => secret.use(fn));
  } finally {
    scopes.emit({
      action: 'with-secret',
      scopeId,
      ...(caller !== undefined && { caller }),
      ...(toolName !== undefined && { toolName }),
      durationMs: performance.now() - start,
      ts,
    });
    wrapper?.dispose();
  }
}

/**
 * Subscribes to the ends of `withSecret` scopes, also of those that failed.
 *
 * @returns what ends the subscription.
 */
export function onWithSecretAudit(listener: WithSecretListener): () => void {
  return scopes.on(listener);
}

/** Removes every listener of {@link onWithSecretAudit}. For tests. */
export function _resetWithSecretListenersForTesting(): void {
  scopes.reset();
}

// A bundler that renames the class binding must not change what `constructor.name` says.
Object.defineProperty(SecretValue, 'name', { value: 'SecretValue' });
