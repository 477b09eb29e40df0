/**
 * Values that hold many bytes. JSON writes a typed array as an object with a key for each element, and a
 * Buffer by way of a list of as many numbers: fifty megabytes in a field take it a minute, and gigabytes.
 *
 * @internal
 */
import { builtins } from '../builtins.js';

/** Bytes up to which a Buffer has the text JSON gives it. */
const MOST_AS_JSON = 1_048_576;
/** Bytes up to which JSON may try its way with a typed array, which is then written another way. */
const FEW = 65_536;
/** Values looked at, as for holes: a walk of a few milliseconds at most. */
const MOST_SEEN = 50_000;
const DEEPEST = 512;

/** Whether a value is a Buffer that is too large for the text JSON gives it. @internal */
export function isLargeBuffer(value: object): value is Buffer {
  if (!ArrayBuffer.isView(value) || value.byteLength <= MOST_AS_JSON) return false;
  const { Buffer } = builtins.buffer();
  return Buffer.isBuffer(value) && value.toJSON === Buffer.prototype.toJSON;
}

/**
 * Whether JSON should not be asked for a value at all, as far as a look at fifty thousand of its values tells.
 * Runs the getters that are in those.
 *
 * @internal
 */
export function holdsManyBytes(value: object): boolean {
  let seen = 0;
  const below = (child: unknown, depth: number): boolean => {
    seen += 1;
    if (typeof child !== 'object' || child === null || depth === 0 || seen > MOST_SEEN) return false;
    if (ArrayBuffer.isView(child)) {
      return isLargeBuffer(child) || (child.byteLength > FEW && (child as { toJSON?: unknown }).toJSON === undefined);
    }
    if (typeof (child as { toJSON?: unknown }).toJSON === 'function') return false;
    if (Array.isArray(child)) {
      for (const item of child) {
        if (below(item, depth - 1)) return true;
        if (seen > MOST_SEEN) return false;
      }
      return false;
    }
    for (const key in child) {
      if (Object.hasOwn(child, key) && below((child as Record<string, unknown>)[key], depth - 1)) return true;
      if (seen > MOST_SEEN) return false;
    }
    return false;
  };
  return below(value, DEEPEST);
}
