/**
 * The region hash: XXH32. Fast, not collision resistant.
 *
 * @packageDocumentation
 */
import { native } from '../binding.js';

/**
 * XXH32 of bytes, or of a text as UTF-8 (lone surrogates count as U+FFFD).
 *
 * @param seed any number, taken modulo 2^32. Default 0.
 * Throws a `TypeError` for anything else.
 *
 * @returns eight lower-case hex digits.
 * @example xxhash32('abc'); // '32d153ff'
 */
export function xxhash32(input: Uint8Array | string, seed = 0): string {
  if (typeof input !== 'string' && !ArrayBuffer.isView(input)) {
    throw new TypeError('xxhash32 needs a string or a Uint8Array.');
  }
  const at = seed >>> 0;
  const hash = typeof input === 'string' ? native().xxh32Text(input, at) : native().xxh32Bytes(input, at);
  return hash.toString(16).padStart(8, '0');
}

/** {@link xxhash32} as a promise. Hashes in place: another thread would cost more than it saves. */
export async function hashRegion(input: Uint8Array | string, seed = 0): Promise<string> {
  return xxhash32(input, seed);
}
