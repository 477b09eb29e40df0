/**
 * Careful access to objects that are not ours: getters of a foreign schema may throw, and nothing
 * of that may break a projection.
 *
 * @internal
 */

/** `value[key]`, or undefined when `value` has no properties or the read throws. @internal */
export function read(value: unknown, key: PropertyKey): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined;
  try {
    return (value as Record<PropertyKey, unknown>)[key];
  } catch {
    return undefined;
  }
}

/** Whether `value` is an object other than null. @internal */
export function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Whether `value` is an object, neither null nor an array, nor a revoked proxy. @internal */
export function isRecord(value: unknown): value is Record<string, unknown> {
  try {
    return isObject(value) && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * Sets an own property whatever its name is; a plain assignment of `__proto__` would change the
 * prototype instead.
 *
 * @internal
 */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}

/** `source[from]` copied to `target[to]` if it is a number. @internal */
export function copyNumber(target: Record<string, unknown>, to: string, value: unknown): void {
  if (typeof value === 'number') target[to] = value;
}
