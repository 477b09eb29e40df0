/**
 * The memory guard's audit bus. One per load of the package.
 *
 * @packageDocumentation
 */
import { createListenerSet } from '../core/listeners.js';
import type { MemoryGuardAuditEvent, MemoryGuardAuditListener } from './types.js';

const bus = createListenerSet<MemoryGuardAuditEvent>();

/**
 * Subscribes to the guards' rows. The same function subscribed twice is called once.
 *
 * @returns what ends the subscription.
 */
export function onMemoryGuardAudit(listener: MemoryGuardAuditListener): () => void {
  return bus.on(listener);
}

/** Hands any row, unchecked, to every listener, before it returns. Never throws. */
export function emitMemoryGuardAudit(event: MemoryGuardAuditEvent): void {
  bus.emit(event);
}

/** How many distinct listeners are subscribed. For tests. */
export function _getMemoryGuardAuditListenerCountForTesting(): number {
  return bus.count();
}

/** Removes every listener. For tests. */
export function _resetMemoryGuardAuditListenersForTesting(): void {
  bus.reset();
}
