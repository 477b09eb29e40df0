/**
 * The secrets audit bus: who asked for which secret, and what came of it. Never a value.
 *
 * One bus per load of the package; the executor, the stores and the ACL all report here.
 *
 * @packageDocumentation
 */
import { createListenerSet } from '../core/listeners.js';

/** What was done. */
export type SecretsAuditAction =
  | 'secret:get'
  | 'secret:require'
  | 'secret:set'
  | 'secret:delete'
  | 'secret:list'
  | 'secret:rekey'
  | 'secrets:downgrade';
/** What came of it. */
export type SecretsAuditDecision = 'success' | 'denied' | 'not-found' | 'error';
/** Who did it. Keys are absent when there is nothing to say. */
export interface SecretsAuditActor {
  /** Who acted. */
  readonly kind: 'tool' | 'agent' | 'cli' | 'system' | 'subagent';
  /** For a tool: the id of the agent it works for. */
  readonly id?: string;
  /** Name of the tool. */
  readonly toolName?: string;
  /** Id of the run. */
  readonly runId?: string;
  /** Id of the session the run belongs to. */
  readonly sessionId?: string;
}
/** One row. */
export interface SecretsAuditEvent {
  /** What happened. */
  readonly action: SecretsAuditAction;
  /** How it was decided. */
  readonly decision: SecretsAuditDecision;
  /** Epoch milliseconds. */
  readonly ts: number;
  /** Who reports: a store's kind, or `tool-acl` for `ctx.secrets`. */
  readonly source: string;
  /** The key. */
  readonly target: string;
  /** Who did it. */
  readonly actor?: SecretsAuditActor;
  /** More about it, as plain data. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}
/** Hears every row. What it throws is contained. */
export type SecretsAuditListener = (event: SecretsAuditEvent) => void;

const bus = createListenerSet<SecretsAuditEvent>();

/**
 * Subscribes to the secrets audit rows. The same function subscribed twice is called once.
 *
 * @returns what ends the subscription.
 * @example
 * const stop = onSecretsAudit((row) => log.info(`${row.action} ${row.target}: ${row.decision}`));
 */
export function onSecretsAudit(listener: SecretsAuditListener): () => void {
  return bus.on(listener);
}

/** Hands a row to every listener, before it returns. Does nothing without listeners; never throws. */
export function emitSecretsAudit(event: SecretsAuditEvent): void {
  bus.emit(event);
}

/** Removes every listener. For tests. */
export function _resetSecretsAuditListenersForTesting(): void {
  bus.reset();
}

/** How many distinct listeners are subscribed. For tests. */
export function _getSecretsAuditListenerCountForTesting(): number {
  return bus.count();
}
