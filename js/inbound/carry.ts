import { native } from '../binding.js';
import type { LongText } from '../../native/binding.js';

/** UTF-16 units that cross in one turn of the event loop: a fraction of a millisecond. */
const PIECE = 512 * 1024;

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
  for (let at = 0; at < text.length; at += PIECE) {
    await long.ready(PIECE);
    long.push(text.slice(at, at + PIECE));
  }
  await long.ready(0);
  return long;
}

/** Whether a text is handed over in pieces. @internal */
export function isLong(text: string): boolean {
  return text.length > 2 * PIECE;
}
