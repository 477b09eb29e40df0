/**
 * Plain values and JSON text, a piece at a time. Small values take the short way: one check and one
 * `JSON.stringify`, or one `JSON.parse`.
 *
 * @internal
 */
import { native } from '../../binding.js';
import { MalformedValue } from './malformed.js';
import type { Steps } from './slices.js';

/** Deepest nesting that crosses, in either direction. @internal */
export const MAX_DEPTH = 1000;
/**
 * What a piece may cost: about a millisecond. A value costs one, a key three, and text one for every 32
 * units. `src/sandbox/wire/pieces.rs` counts the same.
 *
 * @internal
 */
export const PIECE_COST = 4096;
/** Text up to this is read in one go. */
const SMALL_BYTES = 64 * 1024;

/** Text over this is written in parts. */
const LONG_TEXT = 256 * 1024;
/** Arrays over this are not asked for names of their own, which would mean a text for each index. @internal */
export const LONG_LIST = 50_000;

/** What text adds to the cost. @internal */
export const textCost = (text: string): number => text.length >>> 5;
const plainPrototypes = new Set<unknown>([Object.prototype, null]);

/** The keys of an object that JSON writes as it is, its items aside; null for an array, undefined for any other. */
function keysOf(value: object): string[] | null | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    if (prototype !== Array.prototype || 'toJSON' in value) return undefined;
    return value.length > LONG_LIST || Object.keys(value).length === value.length ? null : undefined;
  }
  // A tag means a look-alike (the Math object, a module namespace): leave it to the table.
  if (!plainPrototypes.has(prototype) || 'toJSON' in value || Symbol.toStringTag in value) return undefined;
  return Object.keys(value);
}

/** The cost of a value that JSON writes as it is, NaN for one that JSON cannot say. */
function leafCost(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return 1 + textCost(value);
    case 'boolean':
      return 1;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? 1 : NaN;
    default:
      return value === null ? 1 : NaN;
  }
}

/** The cost of a value that JSON says exactly, sharing and all; NaN when it does not, or when that is more than a piece. */
function smallCost(value: unknown, seen: Set<object>, depth: number): number {
  if (typeof value !== 'object' || value === null) return leafCost(value);
  const keys = seen.has(value) || depth >= MAX_DEPTH ? undefined : keysOf(value);
  if (keys === undefined) return NaN;
  seen.add(value);
  let cost = 1;
  if (keys === null) {
    for (const item of value as unknown[]) {
      cost += smallCost(item, seen, depth + 1);
      if (!(cost < PIECE_COST)) return NaN;
    }
    return cost;
  }
  for (const key of keys) {
    cost += 3 + textCost(key) + smallCost((value as Record<string, unknown>)[key], seen, depth + 1);
    if (!(cost < PIECE_COST)) return NaN;
  }
  return cost;
}

/**
 * The JSON text of a value that is one piece, undefined for any other: the short way of {@link writePlain}.
 *
 * @internal
 */
export function writeSmall(value: unknown, max: number): string | undefined {
  if (!(smallCost(value, new Set(), 0) < PIECE_COST)) return undefined;
  const text = JSON.stringify(value);
  // A unit is three bytes at most.
  if (text.length * 3 > max) toBytes(text, max);
  return text;
}

/** A container on the way from the root to the item being looked at. */
interface Open {
  readonly value: object;
  readonly keys: string[] | null;
  readonly length: number;
  /** The item being looked at. */
  at: number;
  /** The first item that is not written. */
  from: number;
  /** Whether its bracket, and whether any item, is written. */
  opened: boolean;
  filled: boolean;
}

/**
 * The JSON text of a value in pieces, when `JSON.stringify` says the value exactly, sharing and all;
 * otherwise undefined. Looks at an item and writes it in the same turn, so that the text is well formed
 * whatever happens to the value in between. Throws when it is too deep or over `max` bytes.
 *
 * @internal
 */
export function* writePlain(root: unknown, max: number): Steps<Buffer[] | undefined> {
  const writer = new PlainWriter(max);
  if (typeof root === 'string') writer.begin(root);
  else if (typeof root !== 'object' || root === null) {
    return Number.isNaN(leafCost(root)) ? undefined : [toBytes(JSON.stringify(root), max)];
  } else if (!writer.enter(root)) return undefined;
  for (;;) {
    const looked = writer.look();
    if (looked === 'special') return undefined;
    if (looked === 'end') return writer.finish(root);
    yield;
  }
}

/** The bytes of a text of which `max` are allowed and `used` up already. Throws when it has more. @internal */
export function toBytes(text: string, max: number, used = 0): Buffer {
  // Every unit is a byte at least.
  const bytes = text.length <= max - used ? Buffer.from(text) : undefined;
  if (bytes === undefined || bytes.length > max - used) throw new Error(`the value is larger than ${max} bytes`);
  return bytes;
}

class PlainWriter {
  readonly #seen = new Set<object>();
  readonly #stack: Open[] = [];
  readonly #pieces: Buffer[] = [];
  #text = '';
  #size = 0;
  #cost = 0;
  /** A long text and how much of it is written. */
  #long: { readonly text: string; at: number } | undefined;

  constructor(private readonly max: number) {}

  /** Begins a text that is written in parts. */
  begin(text: string): void {
    this.#text += '"';
    this.#long = { text, at: 0 };
  }

  /** Writes a part of the text that was begun. */
  #part(long: { readonly text: string; at: number }): void {
    // A pair that is cut in two is two escapes, which the reader puts together again.
    this.#text += JSON.stringify(long.text.slice(long.at, long.at + LONG_TEXT)).slice(1, -1);
    long.at += LONG_TEXT;
    if (long.at >= long.text.length) {
      this.#text += '"';
      this.#long = undefined;
    }
    this.#put();
  }

  /** Goes into a container; false when JSON cannot say it. */
  enter(value: object): boolean {
    if (this.#seen.has(value)) return false;
    this.#seen.add(value);
    if (this.#stack.length >= MAX_DEPTH) throw new Error(`the value is nested deeper than ${MAX_DEPTH} levels`);
    const keys = keysOf(value);
    if (keys === undefined) return false;
    this.#cost += 1;
    this.#stack.push({ value, keys, length: keys?.length ?? (value as unknown[]).length, at: 0, from: 0, opened: false, filled: false });
    return true;
  }

  /** Looks at items until a piece is full and written, or there are no more. */
  look(): 'more' | 'end' | 'special' {
    if (this.#long !== undefined) {
      this.#part(this.#long);
      return 'more';
    }
    for (let top = this.#stack.at(-1); top !== undefined; top = this.#stack.at(-1)) {
      if (top.at === top.length) {
        if (top.opened) this.#close(top);
        this.#stack.pop();
        const outer = this.#stack.at(-1);
        if (outer === undefined) return 'end';
        outer.at += 1;
        if (top.opened) [outer.from, outer.filled] = [outer.at, true];
      } else {
        const key = top.keys?.[top.at];
        const item = key === undefined ? (top.value as unknown[])[top.at] : (top.value as Record<string, unknown>)[key];
        if (key !== undefined) this.#cost += 3 + textCost(key);
        if (typeof item === 'object' && item !== null) {
          if (!this.enter(item)) return 'special';
        } else if (typeof item === 'string' && item.length > LONG_TEXT) {
          this.#flush();
          this.#separate(top);
          if (key !== undefined) this.#text += `${JSON.stringify(key)}:`;
          this.begin(item);
          top.at += 1;
          top.from = top.at;
          return 'more';
        } else {
          const cost = leafCost(item);
          if (Number.isNaN(cost)) return 'special';
          this.#cost += cost;
          top.at += 1;
        }
      }
      if (this.#cost >= PIECE_COST) {
        this.#flush();
        return 'more';
      }
    }
    return 'end';
  }

  /** The whole text, at the end. */
  finish(root: unknown): Buffer[] {
    // Small enough for one piece: the common case.
    if (this.#pieces.length === 0) return [toBytes(JSON.stringify(root), this.max)];
    this.#put();
    return this.#pieces;
  }

  /** Writes all that was looked at. */
  #flush(): void {
    this.#cost = 0;
    let outer: Open | undefined;
    for (const open of this.#stack) {
      if (!open.opened) {
        if (outer !== undefined) {
          this.#separate(outer);
          const key = outer.keys?.[outer.at];
          if (key !== undefined) this.#text += `${JSON.stringify(key)}:`;
        }
        this.#text += open.keys === null ? '[' : '{';
        open.opened = true;
      }
      this.#run(open);
      outer = open;
    }
    this.#put();
  }

  #separate(open: Open): void {
    if (open.filled) this.#text += ',';
    open.filled = true;
  }

  /** Writes the items that were looked at whole. */
  #run(open: Open): void {
    const { value, keys, from, at } = open;
    if (from >= at) return;
    open.from = at;
    this.#separate(open);
    if (keys === null) {
      const items: unknown[] = [];
      for (let index = from; index < at; index++) items.push((value as unknown[])[index]);
      this.#text += JSON.stringify(items).slice(1, -1);
    } else {
      this.#text += keys.slice(from, at).map((key) => `${JSON.stringify(key)}:${JSON.stringify((value as Record<string, unknown>)[key]) ?? 'null'}`).join(',');
    }
  }

  #close(open: Open): void {
    this.#run(open);
    this.#text += open.keys === null ? ']' : '}';
  }

  #put(): void {
    if (this.#text === '') return;
    const bytes = toBytes(this.#text, this.max, this.#size);
    this.#text = '';
    this.#size += bytes.length;
    this.#pieces.push(bytes);
  }
}

const Step = { run: 0, array: 1, object: 2 } as const;

/** What text from a script may be. @internal */
export interface ReadLimits {
  readonly depth: number;
  readonly parts: number;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MalformedValue('not JSON');
  }
}

/** The value of a text that is one piece. @internal */
export function parseText(text: Buffer): unknown {
  return parse(text.toString('utf8'));
}

/**
 * Refuses JSON text that nests too deeply or has too many parts, before anything is made of it: the
 * parser copes, but what is later done with the value may not. Gives undefined for a text to be parsed
 * at once; for a long one there is a promise of the steps to make its value in, none when it is one piece.
 *
 * @internal
 */
export function cutText(text: Buffer, { depth, parts }: ReadLimits): Promise<Uint32Array> | undefined {
  // Each level takes two bytes, each part one.
  if (text.length <= depth && text.length <= parts) return undefined;
  const refused = (error: unknown): never => {
    throw new MalformedValue((error as Error).message);
  };
  if (text.length > SMALL_BYTES) return native().sandboxCutAsync(text, depth, parts, PIECE_COST).catch(refused);
  try {
    native().sandboxCut(text, depth, parts, 0xffff_ffff);
    return undefined;
  } catch (error) {
    return refused(error);
  }
}

/** Makes the value of a text that has been cut. Throws {@link MalformedValue}. @internal */
export function* readPieces(text: Buffer, steps: Uint32Array): Steps<unknown> {
  if (steps.length === 0) return parseText(text);
  const open: { readonly value: object; readonly key: string | undefined }[] = [];
  for (let at = 0; ; at += 3) {
    const [step, from, to] = steps.subarray(at, at + 3) as unknown as [number, number, number];
    const top = open.at(-1);
    const part = text.toString('utf8', from, to);
    if (step === Step.run && top !== undefined) {
      if (Array.isArray(top.value)) for (const item of parse(`[${part}]`) as unknown[]) top.value.push(item);
      else for (const [key, item] of Object.entries(parse(`{${part}}`) as object)) define(top.value, key, item);
    } else if (step === Step.array || step === Step.object) {
      // In an object the text before a bracket is its key.
      const key = top === undefined || Array.isArray(top.value) ? undefined : onlyKey(part);
      open.push({ value: step === Step.array ? [] : {}, key });
    } else if (top !== undefined) {
      open.pop();
      const outer = open.at(-1);
      if (outer === undefined) return top.value;
      if (top.key === undefined) (outer.value as unknown[]).push(top.value);
      else define(outer.value, top.key, top.value);
    }
    yield;
  }
}

function onlyKey(part: string): string {
  const [key, ...more] = Object.keys(parse(`{${part}0}`) as object);
  if (key === undefined || more.length > 0) throw new MalformedValue('not JSON');
  return key;
}

function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}
