/**
 * Names for spilled results. A writer replaces what it wrote under the same ids, and some providers number
 * calls per turn (`call_0`, `call_0`, …): the second result of such a run would take the place of the first,
 * whose handle the model has already. So an executor remembers the names it gave and numbers the next.
 *
 * @internal
 */

/** Names an executor remembers; beyond that the oldest are free again. */
const REMEMBERED = 10_000;

const keyOf = (runId: string, name: string): string => `${String(runId)}\0${name}`;
const numbered = (callId: string, at: number): string => `${String(callId)}.${at}`;

/** The names an executor has given. */
export class SpillNames {
  readonly #taken = new Set<string>();
  /** From which number on to look for a free name; only for ids whose own name is taken. */
  readonly #next = new Map<string, number>();

  /** A call id nothing has been spilled under in this run: the call's own, or that with a number. */
  take(runId: string, callId: string): string {
    const own = keyOf(runId, callId);
    let name = callId;
    if (this.#taken.has(own)) {
      let at = this.#next.get(own) ?? 2;
      while (this.#taken.has(keyOf(runId, numbered(callId, at)))) at += 1;
      this.#next.set(own, at + 1);
      name = numbered(callId, at);
    }
    this.#taken.add(keyOf(runId, name));
    if (this.#taken.size > REMEMBERED) {
      for (const oldest of this.#taken) {
        this.#forget(oldest);
        break;
      }
    }
    return name;
  }

  /** Gives back the name a call has taken, when nothing was spilled under it. */
  free(runId: string, callId: string, name: string): void {
    this.#forget(keyOf(runId, name));
    if (name === callId) return;
    const own = keyOf(runId, callId);
    const at = Number(name.slice(String(callId).length + 1));
    if (at < (this.#next.get(own) ?? 0)) this.#next.set(own, at);
  }

  #forget(key: string): void {
    this.#taken.delete(key);
    this.#next.delete(key);
  }
}
