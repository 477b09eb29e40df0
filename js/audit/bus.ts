import { nativeRealm } from '../binding.js';
import type { RegisteredEventOptions, ToolAuditEvent, ToolAuditListener } from './types.js';

const listeners = new Set<ToolAuditListener>();

/** Tells the native side how many listen, so that it builds no rows for nobody. */
function announce(): void {
  nativeRealm().setAuditListeners(listeners.size);
}

/** Whether anybody listens; ask before building a row. @internal */
export function hasAuditListeners(): boolean {
  return listeners.size > 0;
}

/**
 * Calls a function with every audit row of this JavaScript thread, from all registries and executors
 * that have no `emitAudit` of their own. The same function is called once however often it is added.
 *
 * @returns a function that ends the subscription; calling it again does nothing.
 *
 * @example const stop = onToolAudit((event) => log(event.action, event.target));
 */
export function onToolAudit(listener: ToolAuditListener): () => void {
  listeners.add(listener);
  announce();
  return () => {
    if (listeners.delete(listener)) announce();
  };
}

/**
 * Hands a row to every listener, in the order they subscribed, before it returns. A listener that
 * throws or rejects harms neither the others nor the caller.
 */
export function emitToolAudit(event: ToolAuditEvent): void {
  for (const listener of listeners) {
    try {
      const returned: unknown = listener(event);
      // An async listener's failure is as much its own as a thrown one.
      if (returned instanceof Promise) returned.catch(() => {});
    } catch {
      // Contained on purpose: an observer must not break what it observes.
    }
  }
}

/** Removes every listener. For tests. */
export function _resetToolAuditListenersForTesting(): void {
  listeners.clear();
  announce();
}

/** How many functions listen. For tests. */
export function _getToolAuditListenerCountForTesting(): number {
  return listeners.size;
}

/** The row of a registration. `ts` is now unless given. */
export function createRegisteredEvent(opts: RegisteredEventOptions): ToolAuditEvent {
  return {
    action: 'tool:registered',
    actor: { kind: 'system', id: 'tool-registry' },
    target: opts.toolName,
    decision: 'success',
    ts: opts.ts ?? Date.now(),
    metadata: {
      trustClass: opts.trustClass,
      sideEffectClass: opts.sideEffectClass,
      hasIdempotencyKey: opts.hasIdempotencyKey,
      streamingHint: opts.streamingHint,
      inboundSanitization: opts.inboundSanitization,
      truncationStrategy: opts.truncationStrategy,
      maxResultTokens: opts.maxResultTokens,
      deferLoading: opts.deferLoading,
      examplesCount: opts.examplesCount,
    },
  };
}
