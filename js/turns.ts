/**
 * Turns of the event loop, for work that is too long for one.
 *
 * The timers are those there were when this was loaded: a test that plays with the clock replaces the global ones, and
 * such work would stand still. Where the globals are a browser's, as in Jest's jsdom environment, they are Node's own.
 *
 * @internal
 */
const { setImmediate, setTimeout } =
  typeof globalThis.setImmediate === 'function' ? globalThis : process.getBuiltinModule('node:timers');

/** Runs something in the next turn of the event loop. @internal */
export function inNextTurn(run: () => void): void {
  setImmediate(run);
}

/** A turn of the event loop. @internal */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs something later, unless the process has ended by then. @internal */
export function later(run: () => void, ms: number): void {
  // Timers that a test has put in place may be plain numbers.
  (setTimeout(run, ms) as { unref?: () => void }).unref?.();
}
