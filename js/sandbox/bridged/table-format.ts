/**
 * What both ends of the table codec share. A table says what JSON cannot as plain data; the format is
 * described where the other end is, in the prelude of the engine (`src/sandbox/engine/prelude/values.js`).
 *
 * @internal
 */

/** A node of a table: a letter and what it takes to make the object. @internal */
export type Node = unknown[];

type View = { new (buffer: ArrayBuffer, offset: number, length: number): ArrayBufferView };

/** Errors that keep their class. @internal */
export const errorClasses: Record<string, new () => Error> = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

/** Views that keep theirs. @internal */
export const views: Record<string, View> = {
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
  Float32Array, Float64Array, BigInt64Array, BigUint64Array, DataView,
};

/** Most places of a sparse array. @internal */
export const MAX_HOLES = 1_000_000;
