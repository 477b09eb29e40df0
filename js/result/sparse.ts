/**
 * Lists with an absurd count of holes, such as one with a row at the place of an id of four billion. JSON
 * writes a `null` for each hole, which takes half a minute and gigabytes, and then fails.
 *
 * @internal
 */

/** Holes of one value that are written out as `null`, as JSON does. */
const MOST_HOLES = 1_000_000;
/** Lists up to this long are not looked at for holes. */
const SHORT = 1_000;
/** Places of a long list that are tried. */
const TRIED = 64;
/** Values looked at: a walk of a few milliseconds at most, whatever a tool returns. */
const MOST_SEEN = 50_000;
/** JSON can write no deeper. */
const DEEPEST = 512;

/** Key under which an abridged list has its length. */
export const SPARSE = '[Sparse list]';

/** Counts the holes of one value. */
export class Holes {
  #found = 0;
  #seen = 0;

  /** Whether a list brings the value over what is written out. Short lists and well filled ones do not. */
  areTooManyIn(list: readonly unknown[]): boolean {
    if (!isSparse(list)) return false;
    // Few keys, or the list would not be sparse.
    const holes = list.length - Object.keys(list).length;
    if (this.#found + holes > MOST_HOLES) return true;
    this.#found += holes;
    return false;
  }

  /** The same for all lists in a value. Looks at no more than fifty thousand values. */
  areTooManyBelow(value: object, depth = DEEPEST): boolean {
    if (depth === 0 || ArrayBuffer.isView(value)) return false;
    const isList = Array.isArray(value);
    if (isList && this.areTooManyIn(value)) return true;
    if (isList && !isSparse(value)) {
      for (const child of value) {
        if (this.#areEnough()) return false;
        if (this.#areTooManyUnder(child, depth)) return true;
      }
      return false;
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    const inherits = prototype !== Object.prototype && prototype !== null;
    for (const key in value) {
      if (this.#areEnough()) return false;
      if (inherits && !Object.hasOwn(value, key)) continue;
      if (this.#areTooManyUnder((value as Record<string, unknown>)[key], depth)) return true;
    }
    return false;
  }

  #areEnough(): boolean {
    this.#seen += 1;
    return this.#seen > MOST_SEEN;
  }

  #areTooManyUnder(child: unknown, depth: number): boolean {
    return typeof child === 'object' && child !== null && this.areTooManyBelow(child, depth - 1);
  }
}

/** A long list of which hardly any place is filled. @internal */
export function isSparse(list: readonly unknown[]): boolean {
  const { length } = list;
  if (length <= SHORT) return false;
  let filled = 0;
  for (let at = 0; at < TRIED; at += 1) if (Math.floor((at * length) / TRIED) in list) filled += 1;
  return filled < TRIED / 2;
}

/** The elements of a list by their places, and its length. */
export function abridged(list: readonly unknown[], inner: (item: unknown, key: string) => unknown): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const key of Object.keys(list)) {
    const at = Number(key);
    if (Number.isSafeInteger(at) && String(at) === key) plain[key] = inner(list[at], key) ?? null;
  }
  plain[SPARSE] = list.length;
  return plain;
}
