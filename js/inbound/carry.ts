import { native } from '../binding.js';
import type { LongText } from '../../native/binding.js';

/** UTF-16 units that cross in one turn of the event loop: a fraction of a millisecond. */
const PIECE = 512 * 1024;
/** Pieces that room is made for at once: each time costs a trip to another thread. */
const PIECES_AT_ONCE = 16;

/**
 * A text as the native functions take it that work off the JavaScript thread. Taking megabytes out of the
 * engine would hold up the event loop, so a long text is handed over in pieces, a turn of the loop before
 * each. Good for one use.
 *
 * @internal
 */
export async function carried(text: string): Promise<string | LongText> {
  if (!isLong(text)) return text;
  const { LongText } = native();
  const long = new LongText(text.length);
  let room = 0;
  for (let at = 0; at < text.length; at += PIECE) {
    if (room > 0) {
      await turn();
    } else {
      room = PIECES_AT_ONCE;
      await long.ready(PIECE * PIECES_AT_ONCE);
    }
    room = long.push(text.slice(at, at + PIECE)) ? room - 1 : 0;
  }
  await long.ready(0);
  return long;
}

// The one there is now: a test that plays with the clock may replace it.
const { setImmediate } = globalThis;

/** A turn of the event loop. @internal */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Whether a text is handed over in pieces. @internal */
export function isLong(text: string): boolean {
  return text.length > 2 * PIECE;
}
