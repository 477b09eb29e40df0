/**
 * A secrets store in memory, for tests and development.
 *
 * @packageDocumentation
 */
import { emitSecretsAudit, type SecretsAuditAction, type SecretsAuditDecision } from './audit.js';
import { activeActor, enforceSecretAcl, isSecretAllowed } from './context.js';
import { MemoryStoreInProductionError, SecretRequiredError, GraphorinSecretsError } from './errors.js';
import { SecretValue } from './value.js';

/** Whose secret it is. No scope at all: everybody's. */
export interface SecretScope {
  /** Id of the user, where there is one. */
  readonly userId?: string;
  /** Id of the agent. */
  readonly agentId?: string;
  /** Id of the session the run belongs to. */
  readonly sessionId?: string;
}

/** Options of {@link MemorySecretsStore.set}. */
export interface SecretSetOptions {
  /** Whose secret it is. Absent: everybody's. */
  readonly scope?: SecretScope;
  /** When the secret stops being good. Kept and listed; nothing here enforces it. */
  readonly expiresAt?: string | Date;
  /** Free words to sort by. */
  readonly tags?: readonly string[];
}

/** One entry of {@link MemorySecretsStore.list}. Times are ISO 8601, UTC. */
export interface SecretListEntry {
  /** Key of the secret. */
  readonly key: string;
  /** When it was first set, ISO 8601. */
  readonly createdAt: string;
  /** When it was last set, ISO 8601. */
  readonly updatedAt: string;
  /** When it stops being good, ISO 8601. */
  readonly expiresAt?: string;
  /** Free words to sort by. */
  readonly tags?: readonly string[];
  /** The store. */
  readonly source: 'memory';
}

interface Entry {
  readonly value: SecretValue;
  readonly listed: SecretListEntry;
}

/** Separates the parts of a scope's name; an absent part is empty. */
function scopeName(scope: SecretScope | undefined): string {
  if (scope === undefined) return 'global';
  return JSON.stringify([scope.userId ?? null, scope.agentId ?? null, scope.sessionId ?? null]);
}

/**
 * A secrets store that forgets everything with the process.
 *
 * All methods are async and reject, never throw. Each but `list` emits one row on the secrets audit bus
 * before its promise settles. Inside a tool's scope reads obey the tool's list: `require` rejects, and
 * `get` resolves to null.
 *
 * @example
 * const store = new MemorySecretsStore();
 * await store.set('API_KEY', 'test-only');
 * const key = await store.require('API_KEY');
 */
export class MemorySecretsStore {
  /** Always `memory`. */
  readonly kind = 'memory';
  readonly #scopes = new Map<string, Map<string, Entry>>();

  /**
   * @param options `forceProduction`: allow it although `NODE_ENV` is `production`. Throws
   *   {@link MemoryStoreInProductionError} otherwise.
   */
  constructor(options: { readonly forceProduction?: boolean } = {}) {
    if (process.env['NODE_ENV'] === 'production' && options.forceProduction !== true) {
      throw new MemoryStoreInProductionError();
    }
  }

  /** How many secrets there are, in all scopes. */
  get size(): number {
    let size = 0;
    for (const entries of this.#scopes.values()) size += entries.size;
    return size;
  }

  /** Stores a secret, in place of the one under that key. A {@link SecretValue} is kept as it is. */
  async set(key: string, value: string | SecretValue, options: SecretSetOptions = {}): Promise<void> {
    const name = scopeName(options.scope);
    let entries = this.#scopes.get(name);
    if (entries === undefined) this.#scopes.set(name, (entries = new Map<string, Entry>()));
    const kept =
      typeof value === 'string'
        ? SecretValue.fromString(value, { source: { resolver: 'memory', ref: `memory:${key}` } })
        : value;
    const now = new Date().toISOString();
    const { expiresAt, tags } = options;
    const listed: SecretListEntry = Object.freeze({
      key,
      createdAt: entries.get(key)?.listed.createdAt ?? now,
      updatedAt: now,
      ...(expiresAt !== undefined && { expiresAt: expiresAt instanceof Date ? expiresAt.toISOString() : expiresAt }),
      ...(tags !== undefined && { tags: Object.freeze([...tags]) }),
      source: 'memory' as const,
    });
    entries.set(key, { value: kept, listed });
    report('secret:set', 'success', key);
  }

  /** The secret, or null when there is none or the running tool may not read it. */
  async get(key: string, scope?: SecretScope): Promise<SecretValue | null> {
    if (!isSecretAllowed(key)) {
      report('secret:get', 'denied', key);
      return null;
    }
    const value = this.#find(key, scope);
    report('secret:get', value === null ? 'not-found' : 'success', key);
    return value;
  }

  /**
   * The secret. Rejects with `SecretRequiredError` when there is none, and with
   * `SecretAccessDeniedError` when the running tool may not read it.
   */
  async require(key: string, scope?: SecretScope): Promise<SecretValue> {
    try {
      enforceSecretAcl(key);
      const value = this.#find(key, scope);
      if (value === null) throw new SecretRequiredError(key);
      report('secret:require', 'success', key);
      return value;
    } catch (error) {
      const kind = error instanceof GraphorinSecretsError ? error.kind : 'unknown';
      const decisions: Readonly<Record<string, SecretsAuditDecision>> = {
        'secret-access-denied': 'denied',
        'secret-required': 'not-found',
      };
      report('secret:require', decisions[kind] ?? 'error', key, kind);
      throw error;
    }
  }

  /** Removes a secret. An unknown key is no fault. */
  async delete(key: string, scope?: SecretScope): Promise<void> {
    const name = scopeName(scope);
    const entries = this.#scopes.get(name);
    entries?.delete(key);
    if (entries?.size === 0) this.#scopes.delete(name);
    report('secret:delete', 'success', key);
  }

  /** What there is in a scope, in the order it was first set; a frozen array, without values. */
  async list(scope?: SecretScope): Promise<readonly SecretListEntry[]> {
    const entries = this.#scopes.get(scopeName(scope));
    return Object.freeze([...(entries?.values() ?? [])].map(({ listed }) => listed));
  }

  #find(key: string, scope: SecretScope | undefined): SecretValue | null {
    return this.#scopes.get(scopeName(scope))?.get(key)?.value ?? null;
  }
}

function report(action: SecretsAuditAction, decision: SecretsAuditDecision, key: string, errorKind?: string): void {
  const actor = activeActor();
  emitSecretsAudit({
    action,
    decision,
    ts: Date.now(),
    source: 'memory',
    target: key,
    ...(actor !== undefined && { actor }),
    ...(errorKind !== undefined && { metadata: { errorKind } }),
  });
}
