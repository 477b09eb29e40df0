/**
 * How the functions of the host call user code: nothing thrown gets past them, and a promise is
 * answered later, in the async context it was made in.
 *
 * @internal
 */
import type { CallRuntime } from '../../native/binding.js';
import { onAbort } from './abort.js';
import { PENDING, THREW, frameAt, registers } from './frame.js';
import type { Frame } from './frame.js';

let runtime: CallRuntime | undefined;
let settler: (text?: string) => void = () => {};

/** Names the runtime that events go to. */
export function bindRuntime(bound: CallRuntime): void {
  runtime = bound;
  settler = bound.settler();
}

function address(frame: Frame, mailbox: number, epoch: number, code: number): void {
  registers[0] = frame.slot;
  registers[1] = mailbox;
  registers[2] = epoch;
  registers[3] = code;
}

/** Delivers an event to the phases of a call; the last one of a race says how the race closed. */
export function settle(frame: Frame, epoch: number, code: number, closed = Number.NaN): void {
  address(frame, 0, epoch, code);
  registers[4] = closed;
  registers[5] = Number.NaN;
  settler();
}

/**
 * {@link settle} for a tool that returned and whose result is unpacked already: `unpacked` is what the
 * native side would have asked for next, and `text` the body, when scanning it there needs no more.
 */
export function settleUnpacked(
  frame: Frame,
  epoch: number,
  code: number,
  closed: number,
  unpacked: number,
  text: string | undefined,
): void {
  address(frame, 0, epoch, code);
  registers[4] = closed;
  registers[5] = unpacked;
  registers[6] = frame.body.length;
  if (text === undefined) settler();
  else settler(text);
}

/** Delivers an event to the span of a call. */
export function settleSpan(frame: Frame, epoch: number, code: number): void {
  address(frame, 1, epoch, code);
  registers[4] = Number.NaN;
  registers[5] = Number.NaN;
  settler();
}

const now = Promise.resolve();

/** {@link settle}, one microtask on. */
export function settleSoon(frame: Frame, epoch: number, code: number): void {
  void now.then(() => settle(frame, epoch, code));
}

const RUN_ABORTED = 3;

/** Tells the race of a call that its run was aborted, in the call's async context, whoever aborts. */
export function settleAborted(frame: Frame): void {
  frame.context.runInAsyncScope(() => {
    void now.then(() => settle(frame, frame.dispatchEpoch, RUN_ABORTED));
  });
}

/** Runs the attempt that waits for its span; false when there is none. */
export function runAttempt(frame: Frame): boolean {
  return runtime?.runAttempt(frame.slot) ?? false;
}

/** Keeps what a callback threw. */
export function threw(frame: Frame, callback: string, error: unknown): typeof THREW {
  frame.thrown = error;
  frame.callback = callback;
  return THREW;
}

/** Runs `act`; what it throws is kept under the callback's name. */
export function guarded(frame: Frame, callback: string, act: () => number): number {
  try {
    return act();
  } catch (error) {
    return threw(frame, callback, error);
  }
}

/** Whether a value has to be waited for. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    value !== null &&
    (typeof value === 'object' || typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}

/**
 * Runs a callback that may answer with a promise, and turns its answer into a code.
 *
 * A wait ends with the run: when the run is aborted and the callback has not answered within the
 * grace, the wait counts as thrown by `run.signal`, and the pipeline ends the call as aborted. So a
 * callback that never settles holds a call only as long as its run lives.
 */
export function awaited<T>(
  frame: Frame,
  epoch: number,
  callback: string,
  start: () => T | PromiseLike<T>,
  take: (value: T) => number,
): number {
  let value: T | PromiseLike<T>;
  try {
    value = start();
    if (!isThenable(value)) return take(value);
  } catch (error) {
    return threw(frame, callback, error);
  }
  let open = true;
  const end = (code: number): void => {
    if (!open) return;
    open = false;
    release();
    settle(frame, epoch, code);
  };
  const release = watchAbort(frame, () => {
    if (!open) return;
    threw(frame, 'run.signal', new Error('aborted'));
    end(THREW);
  });
  Promise.resolve(value).then(
    (answer) => {
      if (open) end(guarded(frame, callback, () => take(answer as T)));
    },
    (error: unknown) => {
      if (open) end(threw(frame, callback, error));
    },
  );
  return PENDING;
}

/** Calls `expire` one grace after the run was aborted. Returns what ends the watch. */
export function watchAbort(frame: Frame, expire: () => void): () => void {
  const signal = frame.runContext.signal as AbortSignal | undefined;
  if (!signal) return () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false;
  const start = (): void => {
    if (!over) timer = globalThis.setTimeout(expire, frame.state.graceMs);
  };
  let leave: (() => void) | undefined;
  if (signal.aborted) {
    start();
  } else {
    // The timer has to belong to this call's async context, whoever aborts; a promise made here does.
    let wake: () => void = () => {};
    void new Promise<void>((resolve) => {
      wake = resolve;
    }).then(start);
    leave = onAbort(signal, wake);
  }
  return () => {
    over = true;
    leave?.();
    if (timer !== undefined) globalThis.clearTimeout(timer);
  };
}

/** A host function over the frame of a slot and the numbers in the registers. */
export function onFrame(
  act: (frame: Frame, a: number, b: number, c: number, d: number) => number,
): () => void {
  return () => {
    const answer = act(frameAt(registers[0]!), registers[1]!, registers[2]!, registers[3]!, registers[4]!);
    registers[0] = answer;
  };
}
