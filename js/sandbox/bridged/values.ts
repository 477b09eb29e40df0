/**
 * Values on their way to a script and back. Plain data travels as JSON text, everything else as a
 * table; both ends agree on what each format byte means (`src/sandbox/wire/frame.rs`). Small values are
 * written and read in one go, large ones in slices (`slices.ts`).
 *
 * @internal
 */
import { MalformedValue } from './malformed.js';
import { MAX_DEPTH, cutText, parseText, readPieces, writePlain } from './pieces.js';
import { inSlices, type Steps } from './slices.js';
import { readTable } from './table.js';
import { writeTable } from './table-writer.js';

/** Format bytes. @internal */
export const Format = { json: 0, table: 1, undefined: 2, refused: 3 } as const;

/** An encoded value; its bytes in pieces. @internal */
export interface Encoded {
  readonly format: number;
  readonly bytes: ReadonlyArray<Buffer>;
}

/**
 * Encodes a value of at most `max` bytes that `writeSmall` did not write, as a promise when it is large;
 * that is never settled once `wanted` says no. Both throw an Error that says what cannot travel, and where it is. A large value
 * should not change before this is done: of what does, some is sent as it was and some as it is.
 *
 * @internal
 */
export function encode(value: unknown, max: number, wanted: () => boolean): Encoded | Promise<Encoded> {
  if (value === undefined) return { format: Format.undefined, bytes: [] };
  return inSlices(encodeSteps(value, max), wanted);
}

function* encodeSteps(value: unknown, max: number): Steps<Encoded> {
  const plain = yield* writePlain(value, max);
  if (plain !== undefined) return { format: Format.json, bytes: plain };
  return { format: Format.table, bytes: yield* writeTable(value, max) };
}

/**
 * Decodes what a script sent, of at most `parts` parts, as a promise when it is large; that is never
 * settled once `wanted` says no. Both throw {@link MalformedValue} for what no honest script sends.
 *
 * @internal
 */
export function decode(format: number, bytes: Buffer, parts: number, wanted: () => boolean): unknown {
  if (format === Format.undefined && bytes.length === 0) return undefined;
  if (format !== Format.json && format !== Format.table) throw new MalformedValue('unknown format');
  const table = format === Format.table;
  // A table adds two levels of its own.
  const cut = cutText(bytes, { depth: MAX_DEPTH + (table ? 2 : 0), parts });
  if (cut === undefined) {
    const value = parseText(bytes);
    return table ? inSlices(readTable(value), wanted) : value;
  }
  return cut.then((pieces) => inSlices(decodeSteps(table, bytes, pieces), wanted));
}

function* decodeSteps(table: boolean, bytes: Buffer, pieces: Uint32Array): Steps<unknown> {
  const value = yield* readPieces(bytes, pieces);
  return table ? yield* readTable(value) : value;
}
