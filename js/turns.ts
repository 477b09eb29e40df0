/**
 * Turns of the event loop, for work that is too long for one.
 *
 * The timers are those that Node exports, not the global ones: a test that plays with the clock replaces those, perhaps
 * before this is loaded, and such work would stand still. In Jest's jsdom environment they are a browser's.
 *
 * @internal
 */
const { setImmediate, setTimeout } = process.getBuiltinModule('node:timers');

/** Runs something in the next turn of the event loop. @internal */
export function inNextTurn(run: () => void): void {
  setImmediate(run);
}

/** A turn of the event loop. @internal */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs something later, unless the process has ended by then. @internal */
export function later(run: () => void, ms: number): void {
  setTimeout(run, ms).unref();
}
