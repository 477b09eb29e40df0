import { native } from '../binding.js';
import { type TokenCounter, countTokensHeuristic } from './tokens.js';

const UNITS_PER_TOKEN = 4;
const SHAPES = { middle: 0, tail: 1, head: 2 } as const;

/** One end of a text, bounded. @internal */
export interface Piece {
  readonly side: 'head' | 'tail';
  readonly tokens: number;
}

/**
 * The text bounded to a cap around a marker: head and tail (`middle`), tail, or head. `piece` is the
 * head alone, without a marker.
 *
 * With the default counter the native cutter gets a window of as many units as the cap allows, so the
 * cost does not depend on the size of the text. Other counters are asked.
 *
 * @internal
 */
export function boundAround(
  shape: keyof typeof SHAPES | 'piece',
  body: string,
  marker: string,
  cap: number,
  counter: TokenCounter,
): string {
  if (shape === 'piece') return fit(body, { side: 'head', tokens: cap }, counter);
  if (counter !== countTokensHeuristic) return boundByCounter(shape, body, marker, cap, counter);
  const tokens = cap > 0 ? Math.floor(cap) : 0;
  const window = tokens * UNITS_PER_TOKEN + 1;
  return native().assembleBounded(SHAPES[shape], tokens, marker, body.slice(0, window), body.slice(-window));
}

function boundByCounter(
  shape: keyof typeof SHAPES,
  body: string,
  marker: string,
  cap: number,
  counter: TokenCounter,
): string {
  let slot = Math.max(0, cap - counter.count(marker));
  let bounded = '';
  // Line feeds and seams can cost a token or two that the pieces alone do not show.
  for (let tries = 0; tries < 4; tries += 1) {
    bounded = joined(shape, body, marker, slot, counter);
    const excess = counter.count(bounded) - cap;
    if (!(excess > 0) || slot <= 0) break;
    slot = Math.max(0, slot - excess);
  }
  return bounded;
}

function joined(
  shape: keyof typeof SHAPES,
  body: string,
  marker: string,
  slot: number,
  counter: TokenCounter,
): string {
  const head = shape === 'middle' ? Math.floor(slot / 2) : shape === 'head' ? slot : 0;
  const before = shape === 'tail' ? '' : `${fit(body, { side: 'head', tokens: head }, counter)}\n`;
  const after = shape === 'head' ? '' : `\n${fit(body, { side: 'tail', tokens: slot - head }, counter)}`;
  return before + marker + after;
}

/** The longest end of the text that has at most so many tokens, never splitting a pair. */
function fit(body: string, piece: Piece, counter: TokenCounter): string {
  if (!(piece.tokens > 0)) return '';
  const end = (units: number): string =>
    piece.side === 'head' ? body.slice(0, units) : body.slice(body.length - units);
  const fits = (units: number): boolean => counter.count(end(units)) <= piece.tokens;
  // Double until it no longer fits, then halve the gap: the whole text is never counted for a small cap.
  let high = Math.min(body.length, Math.ceil(piece.tokens) * UNITS_PER_TOKEN);
  let low = 0;
  while (high < body.length && fits(high)) {
    low = high;
    high = Math.min(body.length, high * 2);
  }
  if (high === body.length && fits(high)) return body;
  while (low < high - 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  const cut = piece.side === 'head' ? low : body.length - low;
  return splitsPair(body, cut) ? end(low - 1) : end(low);
}

function splitsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000;
}
