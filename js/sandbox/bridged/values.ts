/**
 * Values on their way to a script and back. Plain data travels as JSON text, everything else as a
 * table; both ends agree on what each format byte means (`src/sandbox/wire/frame.rs`).
 *
 * @internal
 */
import { MalformedValue, decodeTable, encodeTable } from './table.js';

/** Format bytes. @internal */
export const Format = { json: 0, table: 1, undefined: 2, refused: 3 } as const;

/** Deepest nesting that crosses, in either direction. @internal */
export const MAX_DEPTH = 1000;

/** An encoded value. @internal */
export interface Encoded {
  readonly format: number;
  readonly bytes: Buffer;
}

const empty = Buffer.alloc(0);
const plainPrototypes = new Set<unknown>([Object.prototype, null]);

/** Whether `JSON.stringify` says the value exactly, sharing and all. Throws when it is too deep. */
function isPlain(value: unknown, seen: Set<object>, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0);
    case 'object':
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (seen.has(value)) return false;
  seen.add(value);
  if (depth >= MAX_DEPTH) throw new Error(`the value is nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) {
    if (Object.getPrototypeOf(value) !== Array.prototype || Object.keys(value).length !== value.length) return false;
    for (const item of value) if (!isPlain(item, seen, depth + 1)) return false;
    return !('toJSON' in value);
  }
  if (!plainPrototypes.has(Object.getPrototypeOf(value)) || 'toJSON' in value) return false;
  for (const key of Object.keys(value)) if (!isPlain((value as Record<string, unknown>)[key], seen, depth + 1)) return false;
  // A tag means a look-alike (the Math object, a module namespace): leave it to the table.
  return !(Symbol.toStringTag in value);
}

/** Encodes a value. Throws an Error that says what cannot travel, and where it is. @internal */
export function encode(value: unknown, max: number): Encoded {
  if (value === undefined) return { format: Format.undefined, bytes: empty };
  const simple = typeof value === 'string' || isPlain(value, new Set(), 0);
  const text = JSON.stringify(simple ? value : encodeTable(value));
  if (text.length > max) throw new Error(`the value is larger than ${max} bytes`);
  const bytes = Buffer.from(text);
  if (bytes.length > max) throw new Error(`the value is larger than ${max} bytes`);
  return { format: simple ? Format.json : Format.table, bytes };
}

/** What reading a value may cost, in parts; a key weighs four. `src/sandbox/engine/value.rs` counts the same. */
const MAX_PARTS = 40_000;
const MAX_TABLE_PARTS = 20_000;

/**
 * Refuses JSON text that nests too deeply or has too many parts, before anything is made of it. The
 * parser copes with any depth, but what is later done with the value may not; and it stops the event
 * loop for a time that depends on the parts.
 */
function checkShape(text: Buffer, max: number): void {
  let depth = 0;
  let parts = 1;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (quoted) {
      if (byte === 0x5c) at++;
      else if (byte === 0x22) quoted = false;
    } else if (byte === 0x22) quoted = true;
    else if (byte === 0x2c) parts += 1;
    else if (byte === 0x3a) parts += 3;
    else if (byte === 0x5b || byte === 0x7b) {
      const next = text[at + 1];
      if (next !== 0x5d && next !== 0x7d) parts += 1;
      // A table adds two levels of its own.
      if (++depth > MAX_DEPTH + 2) throw new MalformedValue('nested too deeply');
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  if (parts > max) throw new MalformedValue('too many parts');
}

/** Decodes what a script sent. Throws {@link MalformedValue} for what no honest one sends. @internal */
export function decode(format: number, bytes: Buffer): unknown {
  if (format === Format.undefined && bytes.length === 0) return undefined;
  if (format !== Format.json && format !== Format.table) throw new MalformedValue('unknown format');
  let value: unknown;
  if (bytes.length > MAX_DEPTH) checkShape(bytes, format === Format.table ? MAX_TABLE_PARTS : MAX_PARTS);
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new MalformedValue('not JSON');
  }
  return format === Format.table ? decodeTable(value) : value;
}
