/**
 * Long work on the JavaScript thread, done a slice at a time so that the event loop goes on in between.
 *
 * Work is a generator that yields between steps of about a millisecond. All work of a realm shares one
 * slice per turn of the loop: fifty values at once take longer each, not fifty slices in a row.
 *
 * @internal
 */
import { inNextTurn } from '../../turns.js';

/** Work that yields between steps and returns its outcome. @internal */
export type Steps<T> = Generator<void, T, void>;

/** How long one turn of the event loop may be kept busy, in milliseconds. */
const SLICE_MS = 6;

interface Job {
  readonly steps: Steps<unknown>;
  readonly wanted: () => boolean;
  readonly done: (value: unknown) => void;
  readonly failed: (error: unknown) => void;
}

const jobs: Job[] = [];

function turn(): void {
  const end = performance.now() + SLICE_MS;
  while (jobs.length > 0) {
    const job = jobs.shift() as Job;
    try {
      const { done, value } = job.steps.next();
      // What nobody waits for any more is dropped.
      if (done === true) job.done(value);
      else if (job.wanted()) jobs.push(job);
    } catch (error) {
      job.failed(error);
    }
    if (performance.now() >= end) break;
  }
  if (jobs.length > 0) inNextTurn(turn);
}

/**
 * Does the work: at once when it has one step only, else in slices, for which there is a promise. It is
 * never settled once `wanted` says no.
 *
 * @internal
 */
export function inSlices<T>(steps: Steps<T>, wanted: () => boolean): T | Promise<T> {
  const first = steps.next();
  if (first.done === true) return first.value;
  return new Promise<T>((done, failed) => {
    jobs.push({ steps, wanted, done: done as (value: unknown) => void, failed });
    if (jobs.length === 1) inNextTurn(turn);
  });
}

/** Does the work in one go. @internal */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
