/**
 * Values on their way to a script and back. Plain data travels as JSON text, everything else as a
 * table; both ends agree on what each format byte means (`src/sandbox/wire/frame.rs`). Small values are
 * written and read in one go, large ones in slices (`slices.ts`).
 *
 * @internal
 */
import { MalformedValue } from './malformed.js';
import { MAX_DEPTH, cutText, readPieces, writePlain } from './pieces.js';
import type { Steps } from './slices.js';
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
 * Encodes a value of at most `max` bytes. Throws an Error that says what cannot travel, and where it is.
 * A large value should not change before this is done: of what changes, some is sent as it was and some as it is.
 *
 * @internal
 */
export function* encode(value: unknown, max: number): Steps<Encoded> {
  if (value === undefined) return { format: Format.undefined, bytes: [] };
  const plain = yield* writePlain(value, max);
  if (plain !== undefined) return { format: Format.json, bytes: plain };
  return { format: Format.table, bytes: yield* writeTable(value, max) };
}

/**
 * Checks what a script sent, of at most `parts` parts, and gives the steps that decode it; as a promise
 * for a large value. Both throw {@link MalformedValue} for what no honest script sends.
 *
 * @internal
 */
export function decode(format: number, bytes: Buffer, parts: number): Steps<unknown> | Promise<Steps<unknown>> {
  if (format === Format.undefined && bytes.length === 0) return nothing();
  if (format !== Format.json && format !== Format.table) throw new MalformedValue('unknown format');
  const table = format === Format.table;
  // A table adds two levels of its own.
  const cut = cutText(bytes, { depth: MAX_DEPTH + (table ? 2 : 0), parts });
  const steps = (pieces: Uint32Array): Steps<unknown> => (table ? readTablePieces(bytes, pieces) : readPieces(bytes, pieces));
  return cut instanceof Uint32Array ? steps(cut) : cut.then(steps);
}

// eslint-disable-next-line require-yield
function* nothing(): Steps<unknown> {
  return undefined;
}

function* readTablePieces(bytes: Buffer, pieces: Uint32Array): Steps<unknown> {
  return yield* readTable(yield* readPieces(bytes, pieces));
}
