import { native } from '../binding.js';
import { later, turn } from '../turns.js';
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
  const there = taken(text);
  if (there !== undefined) return there;
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

/** A text that the native side has already. */
interface AtHand {
  readonly text: string;
  readonly long: LongText;
}

/** The last one: it is bounded right behind the making, if at all. */
let atHand: AtHand | undefined;
/** Milliseconds after which it is let go, with its megabytes. */
const AT_HAND_MS = 100;

/** Has {@link carried} take the native text for this one, for a moment, once. @internal */
export function keepAtHand(text: string, long: LongText): void {
  if (!isLong(text)) return;
  const made = { text, long };
  atHand = made;
  later(() => {
    if (atHand === made) atHand = undefined;
  }, AT_HAND_MS);
}

function taken(text: string): LongText | undefined {
  const made = atHand;
  // Most texts are told apart by their lengths; the same string is known by its place in memory.
  if (made === undefined || made.text.length !== text.length || made.text !== text) return undefined;
  atHand = undefined;
  return made.long;
}

/** Whether a text is handed over in pieces. @internal */
export function isLong(text: string): boolean {
  return text.length > 2 * PIECE;
}
