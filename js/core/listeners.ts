/**
 * A synchronous set of listeners, as the audit buses of several rooms need it.
 *
 * @internal
 */

/** What a listener looks like. Its answer is ignored. @internal */
export type Listener<E> = (event: E) => unknown;

/** One bus. Every member works detached. @internal */
export interface ListenerSet<E> {
  /** Adds a listener; the same function counts once. Returns what removes it. */
  readonly on: (listener: Listener<E>) => () => void;
  /** Calls every listener, in subscription order, before it returns. Never throws. */
  readonly emit: (event: E) => void;
  /** Removes all. */
  readonly reset: () => void;
  /** How many distinct listeners there are. */
  readonly count: () => number;
}

const ignore = (): void => undefined;

/**
 * Makes a bus. A listener that throws, or whose promise rejects, disturbs neither the emitter nor
 * the other listeners; one that is added during an emission hears the next event only.
 *
 * @internal
 */
export function createListenerSet<E>(): ListenerSet<E> {
  const listeners = new Set<Listener<E>>();
  return {
    on(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    emit(event) {
      if (listeners.size === 0) return;
      // A copy: a set that grows while it is walked would be walked to its new end.
      for (const listener of Array.from(listeners)) {
        try {
          const answer = listener(event);
          if (answer instanceof Promise) answer.catch(ignore);
        } catch {
          // An observer must not be able to change what it observes.
        }
      }
    },
    reset() {
      listeners.clear();
    },
    count: () => listeners.size,
  };
}
