/**
 * Who waits for a run to be aborted: any number of calls behind one listener on its signal. A batch
 * of more than ten calls would otherwise make the platform warn of a leak that is none.
 *
 * @internal
 */
interface Hub {
  readonly waiting: Set<() => void>;
  readonly listener: () => void;
}

const hubs = new WeakMap<object, Hub>();

function hubOf(signal: AbortSignal): Hub {
  const known = hubs.get(signal);
  if (known) return known;
  const waiting = new Set<() => void>();
  const listener = (): void => {
    hubs.delete(signal);
    // In the order they came; one that leaves meanwhile is not called any more.
    for (const act of waiting) act();
  };
  const hub = { waiting, listener };
  hubs.set(signal, hub);
  signal.addEventListener('abort', listener, { once: true });
  return hub;
}

/**
 * Calls `act` when the signal aborts; it must not throw. Returns what leaves again, and leaves no
 * listener behind with the last one. A signal that is aborted already never calls.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  const hub = hubOf(signal);
  // A function of its own, so that the same `act` may wait twice.
  const own = (): void => act();
  hub.waiting.add(own);
  return () => {
    if (!hub.waiting.delete(own) || hub.waiting.size > 0) return;
    if (hubs.get(signal) === hub) hubs.delete(signal);
    signal.removeEventListener('abort', hub.listener);
  };
}
