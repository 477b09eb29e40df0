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
