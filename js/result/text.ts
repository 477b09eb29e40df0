/**
 * The one text form of every value a tool can return.
 *
 * What JSON can say is said by `JSON.stringify`, byte for byte. For the rest:
 *
 * | value | text |
 * |---|---|
 * | `undefined`, `null` | nothing, at the top; as JSON has it, inside |
 * | string, number, boolean | itself, at the top |
 * | BigInt | its decimal digits; in quotes, inside |
 * | Date, URL, Buffer, anything with `toJSON` | what `toJSON` says |
 * | a Buffer of more than 1 MiB | as `Uint8Array` |
 * | Map | an object when all keys are strings, else a list of pairs |
 * | Set | a list |
 * | `Uint8Array`, `Uint8ClampedArray`, `ArrayBuffer`, `DataView` | `{"mediaType":"application/octet-stream","base64":"…"}` |
 * | other typed arrays | a list of numbers |
 * | Error | `{"name":…,"message":…}`, its own enumerable fields, and `cause` if there is one |
 * | RegExp | its source, as a string |
 * | Promise, WeakMap, … | its tag, such as `"[object Promise]"` |
 * | function, symbol | its tag at the top; left out (in lists: `null`) inside |
 * | a reference to an enclosing value | `"[Circular]"` |
 * | what lies deeper than 512 levels, where JSON gives up | `"[Too deep]"` |
 * | a property whose getter throws | `"[Unreadable]"` |
 * | a list with over a million holes | its elements by their places, and its length under `"[Sparse list]"` |
 *
 * Plain JSON text over 64 KiB is looked at by its marks only: an Error with fields of its own, deep
 * inside a large value, keeps the form JSON gives it.
 *
 * @packageDocumentation
 */
import { keepAtHand } from '../inbound/carry.js';
import { holdsManyBytes, isLargeBuffer } from './bytes.js';
import { jsonText } from './json-text.js';
import { isExotic, tag } from './kinds.js';
import { plainText } from './plain-text.js';
import { Holes, SPARSE, abridged } from './sparse.js';

const MAX_DEPTH = 512;
/** Stands for what lies deeper. @internal */
export const TOO_DEEP = '[Too deep]';
/** JSON text up to this long is checked value by value, longer text by the marks of lost values. */
const LOOK_CLOSELY = 65_536;

/** A text form. @internal */
export interface Rendered {
  readonly text: string;
  /** Nothing is left out: neither levels that are too deep nor holes. */
  readonly whole: boolean;
}

const whole = (text: string): Rendered => ({ text, whole: true });

/**
 * The text form of a value. Never throws.
 *
 * @internal
 */
export function renderText(value: unknown): string {
  return rendered(value).text;
}

/** {@link renderText}, and what is known about the text without reading it. @internal */
export function rendered(value: unknown): Rendered {
  switch (typeof value) {
    case 'undefined':
      return whole('');
    case 'string':
      return whole(value);
    case 'number':
    case 'boolean':
    case 'bigint':
      return whole(String(value));
    case 'object':
      return value === null ? whole('') : renderObject(value);
    default:
      return whole(tag(value));
  }
}

/** Whether a text stands for a value of which it leaves out the holes; written elsewhere it would stall. @internal */
export function leavesHolesOut(value: unknown, text: string): boolean {
  return typeof value === 'object' && value !== null && text.includes(SPARSE) && new Holes().areTooManyBelow(value);
}

/** A Buffer's JSON without the array of its bytes, which takes forty times its size and seconds. */
function bufferJson(value: Buffer): string {
  return `{"type":"Buffer","data":[${Uint8Array.prototype.join.call(value, ',')}]}`;
}

function renderObject(value: object): Rendered {
  try {
    const plain = plainText(value);
    if (plain !== undefined) return whole(plain);
    if (isLargeBuffer(value)) return whole(JSON.stringify(viewFields(value)));
    if (Buffer.isBuffer(value) && value.toJSON === Buffer.prototype.toJSON) return whole(bufferJson(value));
    // JSON would write a key for each element, only to be thrown away.
    if (ArrayBuffer.isView(value) && !('toJSON' in value)) return whole(JSON.stringify(viewFields(value)));
    const json = jsonText(value);
    if (json !== undefined) {
      if (json.long !== undefined) keepAtHand(json.text, json.long);
      return whole(json.text);
    }
    if (!new Holes().areTooManyBelow(value) && !holdsManyBytes(value)) {
      const said = JSON.stringify(value);
      if (typeof said === 'string' && !losesValues(value, said)) return whole(said);
    }
  } catch {
    // A BigInt, a cycle, a getter that throws, or deeper than the engine's stack.
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(toPlain(value, '', new Path()));
  } catch {
    // What it leaves out is all of it.
  }
  return { text: text ?? tag(value), whole: false };
}

/** Whether JSON's text hides something: what it cannot say comes out as `{}` or as numbered keys. */
function losesValues(value: object, json: string): boolean {
  if (json.length > LOOK_CLOSELY) return json.includes('{}') || json.includes('{"0":');
  return isExotic(value) || hasExotic(value);
}

/** Looks below a value that `JSON.stringify` has just walked, so it is neither cyclic nor too deep. */
function hasExotic(value: object): boolean {
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return false;
  const children: unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const child of children) {
    if (typeof child === 'object' && child !== null && (isExotic(child) || hasExotic(child))) return true;
  }
  return false;
}

/** The values around the one that is looked at. */
class Path extends Array<object> {
  readonly holes = new Holes();
}

function toPlain(value: unknown, key: string, path: Path): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (path.includes(value)) return '[Circular]';
  if (path.length >= MAX_DEPTH) return TOO_DEEP;
  path.push(value);
  try {
    return plainObject(value, key, path);
  } catch {
    return '[Unreadable]';
  } finally {
    path.pop();
  }
}

function plainObject(value: object, key: string, path: Path): unknown {
  const inner = (child: unknown, childKey: string): unknown => toPlain(child, childKey, path);
  if (isLargeBuffer(value)) return viewFields(value);
  const toJson = (value as { toJSON?: unknown }).toJSON;
  if (typeof toJson === 'function') {
    const said: unknown = toJson.call(value, key);
    return said === value ? fields(value, inner) : inner(said, key);
  }
  if (Array.isArray(value) && path.holes.areTooManyIn(value)) return abridged(value, inner);
  if (Array.isArray(value)) return Array.from(value, (item, index) => inner(item, String(index)) ?? null);
  if (value instanceof Map) return mapFields(value, inner);
  if (value instanceof Set) return Array.from(value, (item, index) => inner(item, String(index)) ?? null);
  if (value instanceof Error) return errorFields(value, inner);
  if (value instanceof RegExp) return String(value);
  if (value instanceof ArrayBuffer) return bytes(new Uint8Array(value));
  if (ArrayBuffer.isView(value)) return viewFields(value);
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  const plain = fields(value, inner);
  const name = tag(value);
  return Object.keys(plain).length === 0 && name !== '[object Object]' ? name : plain;
}

type Inner = (child: unknown, key: string) => unknown;

function put(target: Record<string, unknown>, key: string, value: unknown): void {
  // Not by assignment: the key may be `__proto__`.
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function fields(value: object, inner: Inner): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    let child: unknown;
    try {
      child = inner((value as Record<string, unknown>)[key], key);
    } catch {
      child = '[Unreadable]';
    }
    put(plain, key, child);
  }
  return plain;
}

function mapFields(value: ReadonlyMap<unknown, unknown>, inner: Inner): unknown {
  const entries = [...value];
  if (!entries.every(([key]) => typeof key === 'string')) {
    return entries.map(([key, item]) => [inner(key, '0') ?? null, inner(item, '1') ?? null]);
  }
  const plain: Record<string, unknown> = {};
  for (const [key, item] of entries) put(plain, String(key), inner(item, String(key)));
  return plain;
}

function errorFields(value: Error, inner: Inner): Record<string, unknown> {
  const plain: Record<string, unknown> = { name: String(value.name), message: String(value.message) };
  for (const [key, item] of Object.entries(fields(value, inner))) put(plain, key, item);
  if (value.cause !== undefined) plain['cause'] = inner(value.cause, 'cause');
  if (value instanceof AggregateError) plain['errors'] = inner(value.errors, 'errors');
  return plain;
}

function viewFields(value: ArrayBufferView): unknown {
  if (value instanceof Uint8Array || value instanceof Uint8ClampedArray || value instanceof DataView) {
    return bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  }
  return Array.from(value as unknown as ArrayLike<number | bigint>, (item) =>
    typeof item === 'bigint' ? item.toString() : item,
  );
}

function bytes(value: Uint8Array): Record<string, unknown> {
  return {
    mediaType: 'application/octet-stream',
    base64: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'),
  };
}
