/**
 * JSON text of small plain values, as `JSON.stringify` writes it: what most tools return is an object of a
 * dozen short fields, and for those the engine takes twice as long, before anybody has looked whether JSON
 * has hidden something.
 *
 * @internal
 */

/** Fields and elements that are written before this counts as large, and is left to the engine. */
const MOST = 256;
const DEEPEST = 32;
const LONGEST = 256;

/** What JSON escapes, and every surrogate, since a lone one is escaped. */
// oxlint-disable-next-line no-control-regex -- these are the characters JSON escapes
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Keys come again and again. Those that have to be escaped are kept as the empty text. */
const keys = new Map<string, string>();
const MOST_KEYS = 1_000;
const LONGEST_KEY = 64;

function keyText(key: string): string {
  const known = keys.get(key);
  if (known !== undefined) return known;
  const text = key.length > LONGEST_KEY || ESCAPED.test(key) ? '' : `"${key}":`;
  if (keys.size < MOST_KEYS && key.length <= LONGEST_KEY) keys.set(key, text);
  return text;
}

let left = 0;

/**
 * The JSON text of a value of plain objects, lists, short texts, numbers, booleans and null, of which JSON
 * loses nothing; undefined for everything else. Throws what a getter throws.
 */
export function plainText(value: object): string | undefined {
  // Somebody has added to the prototype of all objects: what is whose is for the engine to say.
  for (const _ in Object.prototype) return undefined;
  left = MOST;
  return written(value, DEEPEST);
}

function written(value: unknown, depth: number): string | undefined {
  switch (typeof value) {
    case 'string':
      return value.length > LONGEST || ESCAPED.test(value) ? undefined : `"${value}"`;
    case 'number':
      return Number.isFinite(value) ? `${value}` : 'null';
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (depth === 0 || (value as { toJSON?: unknown }).toJSON !== undefined) return undefined;
      if (Array.isArray(value)) return listText(value, depth - 1);
      return Object.getPrototypeOf(value) === Object.prototype ? fieldsText(value, depth - 1) : undefined;
    default:
      return undefined;
  }
}

function listText(list: readonly unknown[], depth: number): string | undefined {
  const { length } = list;
  left -= length;
  if (left < 0) return undefined;
  let text = '[';
  for (let at = 0; at < length; at += 1) {
    const item = list[at];
    const part = item === undefined ? 'null' : written(item, depth);
    if (part === undefined) return undefined;
    text += at === 0 ? part : `,${part}`;
  }
  return `${text}]`;
}

function fieldsText(value: object, depth: number): string | undefined {
  let text = '{';
  // Its own fields: the one prototype it has shows none.
  for (const key in value) {
    const field = (value as Record<string, unknown>)[key];
    if (field === undefined) continue;
    left -= 1;
    const name = keyText(key);
    const part = left < 0 || name === '' ? undefined : written(field, depth);
    if (part === undefined) return undefined;
    text += text.length === 1 ? name + part : `,${name}${part}`;
  }
  return `${text}}`;
}

const { prototype: listPrototype } = Array;
const { prototype: datePrototype } = Date;
const dateJson = datePrototype.toJSON;

/**
 * Whether JSON can say everything in a value, seen from at most so many values in it: then nobody need look
 * through a text of megabytes for what it may have lost, which the engine would first have to put together from
 * its pieces. False when that is not quite sure.
 */
export function isPlainBelow(value: object, most: number): boolean {
  for (const _ in Object.prototype) return false;
  left = most;
  try {
    return isPlain(value, DEEPEST);
  } catch {
    return false;
  }
}

function isPlain(value: object, depth: number): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  const { toJSON } = value as { toJSON?: unknown };
  if (prototype === datePrototype) return toJSON === dateJson;
  if (toJSON !== undefined || depth === 0) return false;
  if (prototype === listPrototype) {
    if (!Array.isArray(value)) return false;
    for (let at = 0; at < value.length; at += 1) if (!isPlainField(value[at], depth - 1)) return false;
    return true;
  }
  if (prototype !== Object.prototype && prototype !== null) return false;
  let isEmpty = true;
  for (const key in value) {
    // Bytes may have been given this prototype, as may anything that shows no fields.
    if (isEmpty && key === '0') return false;
    if (!isPlainField((value as Record<string, unknown>)[key], depth - 1)) return false;
    isEmpty = false;
  }
  return !isEmpty;
}

function isPlainField(field: unknown, depth: number): boolean {
  left -= 1;
  if (left < 0) return false;
  if (typeof field === 'object') return field === null || isPlain(field, depth);
  return typeof field !== 'function' && typeof field !== 'bigint';
}
