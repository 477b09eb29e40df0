/**
 * Kinds of values of which JSON loses something.
 *
 * @internal
 */

/** What a value calls itself, such as `[object Map]`. */
export const tag = (value: unknown): string => Object.prototype.toString.call(value);

/** Whether JSON would show nothing of a value, or its bytes as fields. */
export function isExotic(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Nearly every value is one of these, and none of the following has such a prototype.
  if (prototype === Object.prototype || prototype === Array.prototype) return false;
  return (
    value instanceof Error ||
    value instanceof Map ||
    value instanceof Set ||
    value instanceof RegExp ||
    value instanceof Promise ||
    value instanceof ArrayBuffer ||
    ArrayBuffer.isView(value)
  );
}
