/**
 * Names for spilled results. A writer replaces what it wrote under the same ids, and some providers number
 * calls per turn (`call_0`, `call_0`, …): the second result of such a run would take the place of the first,
 * whose handle the model has already. So an executor remembers the names it gave and numbers the next.
 *
 * @internal
 */

/** Names an executor remembers; beyond that the oldest are free again. */
const REMEMBERED = 10_000;

const names = new WeakMap<object, Set<string>>();
const keyOf = (runId: string, name: string): string => `${String(runId)}\0${name}`;

/** A call id nothing has been spilled under in this run: the call's own, or that with a number. */
export function takeSpillName(owner: object, runId: string, callId: string): string {
  let taken = names.get(owner);
  if (taken === undefined) names.set(owner, (taken = new Set()));
  let name = callId;
  for (let at = 2; taken.has(keyOf(runId, name)); at += 1) name = `${String(callId)}.${at}`;
  taken.add(keyOf(runId, name));
  if (taken.size > REMEMBERED) {
    for (const oldest of taken) {
      taken.delete(oldest);
      break;
    }
  }
  return name;
}

/** Gives a name back that nothing was spilled under. */
export function freeSpillName(owner: object, runId: string, name: string): void {
  names.get(owner)?.delete(keyOf(runId, name));
}
