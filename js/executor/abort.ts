/**
 * Who waits for a run to be aborted: any number of calls behind one listener on its signal. A batch
 * of more than ten calls would otherwise make the platform warn of a leak that is none.
 *
 * @internal
 */

/** Somebody who wants to hear of an abort. */
export interface Waiter {
  /** The run was aborted. Must not throw. */
  runAborted(): void;
}

interface Hub {
  readonly waiting: Set<Waiter>;
  readonly listener: () => void;
}

const hubs = new WeakMap<object, Hub>();

function hubOf(signal: AbortSignal): Hub {
  const known = hubs.get(signal);
  if (known) return known;
  const waiting = new Set<Waiter>();
  const listener = (): void => {
    // In the order they came; one that leaves meanwhile is not called any more.
    for (const waiter of waiting) waiter.runAborted();
    hubs.delete(signal);
    // A signal that is not the platform's may not know `once`.
    signal.removeEventListener('abort', listener);
  };
  const hub = { waiting, listener };
  hubs.set(signal, hub);
  signal.addEventListener('abort', listener, { once: true });
  return hub;
}

/** Lets `waiter` hear of the abort, once. A signal that is aborted already never tells. */
export function joinAbort(signal: AbortSignal, waiter: Waiter): void {
  hubOf(signal).waiting.add(waiter);
}

/** Takes `waiter` out again, and leaves no listener behind with the last one. */
export function leaveAbort(signal: AbortSignal, waiter: Waiter): void {
  const hub = hubs.get(signal);
  if (!hub?.waiting.delete(waiter) || hub.waiting.size > 0) return;
  hubs.delete(signal);
  signal.removeEventListener('abort', hub.listener);
}

/** Calls `act` when the signal aborts; it must not throw. Returns what leaves again. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  const waiter: Waiter = { runAborted: act };
  joinAbort(signal, waiter);
  return () => leaveAbort(signal, waiter);
}
