/**
 * Writes a value as a table (`table-format.ts`), a piece at a time: what JSON cannot say about a tool's
 * result.
 *
 * @internal
 */
import * as types from 'node:util/types';
import { LONG_LIST, PIECE_COST, textCost, toBytes } from './pieces.js';
import type { Steps } from './slices.js';
import { MAX_HOLES, errorClasses, views } from './table-format.js';

/** Objects a result may hold on its way to a script. */
const MAX_NODES = 200_000;
/** Bytes that become base64 in one step; a multiple of three, so that no stretch is padded. */
const BYTES_AT_ONCE = 3 * 65_536;
/** Objects of the platform that older versions of Node clone into empty ones. */
const platformTags = new Set(['URL', 'URLSearchParams', 'Headers', 'Request', 'Response', 'FormData']);
/** Digits of a BigInt from which on finding them takes a good part of a millisecond. */
const MANY_DIGITS = 4_000;

function describe(value: unknown): string {
  if (typeof value === 'symbol') return String(value);
  if (typeof value === 'function') return value.name === '' ? 'a function' : `function ${value.name}`;
  return `#<${Object.prototype.toString.call(value).slice(8, -1)}>`;
}

/** A key on the way to an object: a property, an index, or a piece of text of its own. */
type Key = string | number | readonly [string];

const itself: Key = [''];
const mapKey: Key = [' (a key)'];
const mapItem: Key = ['.get(…)'];
const member: Key = [' (a member)'];

function step(key: Key): string {
  if (typeof key === 'number') return `[${key}]`;
  if (typeof key !== 'string') return key[0];
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/**
 * The table of a value, as JSON text in pieces. Throws an Error that names what could not be cloned and
 * where, or says that it is over `max` bytes.
 *
 * @internal
 */
export function* writeTable(root: unknown, max: number): Steps<Buffer[]> {
  const writer = new TableWriter(max);
  writer.begin(root);
  for (const value of writer.objects()) {
    for (const _ of nodeOf(value, writer)) {
      if (writer.spill()) yield;
    }
    if (writer.endNode()) yield;
  }
  return writer.finish();
}

class TableWriter {
  readonly #index = new Map<object, number>();
  readonly #objects: object[] = [];
  /** Where each object was found, for messages: the object it is in, -1 for none, and the key there. */
  readonly #places: [number, Key][] = [];
  readonly #pieces: Buffer[] = [];
  #at = -1;
  #node: unknown[] = [];
  #begun = false;
  #text = '';
  #cost = 0;
  #size = 0;

  constructor(private readonly max: number) {}

  begin(root: unknown): void {
    this.#text = `[${JSON.stringify(this.slot(root, itself))}`;
  }

  /** The objects found so far and those that are found meanwhile, in the order of their numbers. */
  *objects(): Generator<object, void, void> {
    for (this.#at = 0; this.#at < this.#objects.length; this.#at++) {
      this.#text += ',[';
      this.#begun = false;
      yield this.#objects[this.#at] as object;
    }
  }

  /** Adds to the node of the current object. */
  push(...items: unknown[]): void {
    for (const item of items) {
      this.#node.push(item);
      this.#cost += typeof item === 'string' ? 1 + textCost(item) : 2;
    }
  }

  endNode(): boolean {
    this.#run();
    this.#text += ']';
    return this.#put();
  }

  /** Adds bytes as base64, of long ones a stretch at a time; tells after each whether a piece was written. */
  *bytes(bytes: Buffer): Generator<void, void, void> {
    if (bytes.length <= BYTES_AT_ONCE) return this.push(bytes.toString('base64'));
    this.#run();
    this.#text += ',"';
    this.#begun = true;
    for (let at = 0; at < bytes.length; at += BYTES_AT_ONCE) {
      this.#text += bytes.toString('base64', at, at + BYTES_AT_ONCE);
      this.pause();
      yield;
    }
    this.#text += '"';
  }

  /** Makes the next {@link spill} one. */
  pause(): void {
    this.#cost = PIECE_COST;
  }

  /** Writes what the current node holds when that is a piece; tells whether it was. */
  spill(): boolean {
    if (this.#cost < PIECE_COST) return false;
    this.#run();
    return this.#put();
  }

  finish(): Buffer[] {
    this.#text += ']';
    this.#cost = PIECE_COST;
    this.#put();
    return this.#pieces;
  }

  #run(): void {
    if (this.#node.length === 0) return;
    this.#text += (this.#begun ? ',' : '') + JSON.stringify(this.#node).slice(1, -1);
    this.#begun = true;
    this.#node = [];
  }

  #put(): boolean {
    if (this.#cost < PIECE_COST) return false;
    const bytes = toBytes(this.#text, this.max, this.#size);
    this.#pieces.push(bytes);
    this.#size += bytes.length;
    [this.#text, this.#cost] = ['', 0];
    return true;
  }

  uncloneable(value: unknown, key?: Key): Error {
    return new Error(`${describe(value)} could not be cloned (at ${this.path(key)})`);
  }

  /** Where the current object is, or its item. */
  path(key: Key = itself): string {
    let text = step(key);
    for (let at = this.#at; at >= 0; ) {
      const [outer, name] = this.#places[at] as [number, Key];
      [text, at] = [step(name) + text, outer];
    }
    return `$${text}`;
  }

  /** What stands for an item of the current object. */
  slot(value: unknown, key: Key): unknown {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        if (Number.isNaN(value)) return ['n'];
        if (value === Infinity) return ['i'];
        if (value === -Infinity) return ['I'];
        return Object.is(value, -0) ? ['z'] : value;
      case 'undefined':
        return ['u'];
      case 'bigint': {
        const digits = String(value);
        if (digits.length > MANY_DIGITS) this.pause();
        return ['b', digits];
      }
      case 'object':
        break;
      default:
        throw this.uncloneable(value, key);
    }
    if (value === null) return null;
    let at = this.#index.get(value);
    if (at === undefined) {
      at = this.#objects.length;
      if (at >= MAX_NODES) throw new Error(`the value holds more than ${MAX_NODES} objects and could not be cloned`);
      this.#index.set(value, at);
      this.#objects.push(value);
      this.#places.push([this.#at, key]);
    }
    // The root is the first of the list.
    return [at + 1];
  }
}

/**
 * Whether an object without keys holds something all the same, where no key leads: a URL, a Blob, an
 * iterator. It would arrive as an empty object. The platform knows its own.
 */
function hidesData(value: object): boolean {
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  if (tag === 'Object') return false;
  if (platformTags.has(tag)) return true;
  try {
    return Object.getPrototypeOf(structuredClone(value)) !== Object.prototype;
  } catch {
    return true;
  }
}

/** Pushes the node of an object, pausing after each of its items. */
function* nodeOf(value: object, writer: TableWriter): Generator<void, void, void> {
  if (types.isPromise(value) || types.isWeakMap(value) || types.isWeakSet(value) || types.isGeneratorObject(value) || types.isExternal(value)) {
    throw writer.uncloneable(value);
  }
  if (Array.isArray(value)) {
    if (!(yield* isDense(value, writer))) {
      if (value.length > MAX_HOLES) throw new Error(`an array of ${value.length} mostly empty places could not be cloned (at ${writer.path()})`);
      writer.push('L', value.length);
      return yield* keyed(value, Object.keys(value), writer);
    }
    const { length } = value;
    writer.push('A');
    for (let at = 0; at < length; at++) yield writer.push(writer.slot(value[at], at));
  } else if (types.isDate(value)) {
    const ms = Date.prototype.getTime.call(value);
    writer.push('D', Number.isNaN(ms) ? null : ms);
  } else if (types.isRegExp(value)) writer.push('R', value.source, value.flags);
  else if (types.isMap(value)) {
    writer.push('M');
    for (const [key, item] of Map.prototype.entries.call(value)) yield writer.push(writer.slot(key, mapKey), writer.slot(item, mapItem));
  } else if (types.isSet(value)) {
    writer.push('S');
    for (const item of Set.prototype.values.call(value)) yield writer.push(writer.slot(item, member));
  } else if (types.isNativeError(value) || value instanceof Error) {
    const name = String(value.name);
    writer.push('E', Object.hasOwn(errorClasses, name) ? name : 'Error', writer.slot(String(value.message), itself), ['u']);
    if (Object.hasOwn(value, 'cause')) writer.push(writer.slot((value as Error).cause, 'cause'));
  } else if (types.isSharedArrayBuffer(value)) throw writer.uncloneable(value);
  else if (types.isArrayBuffer(value)) {
    writer.push('B');
    yield* writer.bytes(Buffer.from(value));
  } else if (ArrayBuffer.isView(value)) yield* viewOf(value, writer);
  else if (types.isBoxedPrimitive(value)) writer.push('W', writer.slot((value as { valueOf(): unknown }).valueOf(), itself));
  else {
    const keys = Object.keys(value);
    if (keys.length === 0 && hidesData(value)) throw writer.uncloneable(value);
    writer.push('O');
    yield* keyed(value, keys, writer);
  }
}

/** Whether an array has no holes and no names of its own. */
function* isDense(value: unknown[], writer: TableWriter): Generator<void, boolean, void> {
  if (value.length <= LONG_LIST) {
    const keys = Object.keys(value);
    return keys.length === value.length && (keys.length === 0 || keys.at(-1) === String(value.length - 1));
  }
  // Many holes are found soon, as a rule; what is full is looked through a piece at a time.
  for (let at = 0; at < value.length; at++) {
    if (!Object.hasOwn(value, at)) return false;
    if (at % PIECE_COST === 0) yield writer.pause();
  }
  return true;
}

function* keyed(value: object, keys: string[], writer: TableWriter): Generator<void, void, void> {
  for (const key of keys) yield writer.push(key, writer.slot((value as Record<string, unknown>)[key], key));
}

function* viewOf(value: ArrayBufferView, writer: TableWriter): Generator<void, void, void> {
  const name = types.isDataView(value) ? 'DataView' : types.isTypedArray(value) ? Object.prototype.toString.call(value).slice(8, -1) : '';
  const known = Object.hasOwn(views, name) ? name : 'Uint8Array';
  const length = types.isTypedArray(value) ? value.length : value.byteLength;
  // A view into a larger buffer takes along what it shows, not the rest of the buffer.
  const whole = value.byteLength === value.buffer.byteLength && types.isArrayBuffer(value.buffer);
  writer.push('V', known);
  if (whole) writer.push(writer.slot(value.buffer, itself));
  else yield* writer.bytes(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
  writer.push(0, length);
}
