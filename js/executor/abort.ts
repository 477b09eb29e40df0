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
    // A signal that is not the platform's may not know `once`.
    forget(signal, listener);
  };
  const hub = { waiting, listener };
  signal.addEventListener('abort', listener, { once: true });
  hubs.set(signal, hub);
  return hub;
}

/** A signal that cannot be left is left all the same: a call that has ended must not fail for it. */
function forget(signal: AbortSignal, listener: () => void): void {
  hubs.delete(signal);
  try {
    signal.removeEventListener('abort', listener);
  } catch {
    // Its listener has nobody to call any more.
  }
}

/** Lets `waiter` hear of the abort, once. A signal that is aborted already never tells. */
export function joinAbort(signal: AbortSignal, waiter: Waiter): void {
  hubOf(signal).waiting.add(waiter);
}

/** Takes `waiter` out again, and leaves no listener behind with the last one. */
export function leaveAbort(signal: AbortSignal, waiter: Waiter): void {
  const hub = hubs.get(signal);
  if (!hub?.waiting.delete(waiter) || hub.waiting.size > 0) return;
  forget(signal, hub.listener);
}

/** Calls `act` when the signal aborts; it must not throw. Returns what leaves again. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  const waiter: Waiter = { runAborted: act };
  joinAbort(signal, waiter);
  return () => leaveAbort(signal, waiter);
}
