import { isObject, setOwn } from './read.js';

/** Deeper values are refused by the validator anyway. */
const MAX_DEPTH = 200;

/** What becomes of own keys that name the way to a prototype. @internal */
export type PrototypeKeys = 'drop' | 'keep';

/** Whether a key of this object names the way to a prototype. */
function isHostile(object: Record<string, unknown>, key: string): boolean {
  if (key === '__proto__') return true;
  if (key !== 'constructor') return false;
  const value = object[key];
  return isObject(value) && Object.hasOwn(value, 'prototype');
}

function isPlain(value: Record<PropertyKey, unknown>): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Defuses own `__proto__` keys, and own `constructor` keys whose value has an own `prototype`,
 * anywhere in JSON-like data. `drop` leaves them out; `keep` leaves them in, on objects without a
 * prototype. What holds none of them is returned by reference.
 *
 * @internal
 */
export function defusePrototypeKeys(value: unknown, policy: PrototypeKeys, depth = 0): unknown {
  if (!isObject(value) || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    const items: unknown[] = value.map((item) => defusePrototypeKeys(item, policy, depth + 1));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isPlain(value)) return value;
  const keys = Object.keys(value);
  const hostile = new Set(keys.filter((key) => isHostile(value, key)));
  const copy: Record<string, unknown> = policy === 'keep' && hostile.size > 0 ? Object.create(null) : {};
  let changed = hostile.size > 0;
  for (const key of keys) {
    if (policy === 'drop' && hostile.has(key)) continue;
    const inner = defusePrototypeKeys(value[key], policy, depth + 1);
    changed ||= inner !== value[key];
    setOwn(copy, key, inner);
  }
  return changed ? copy : value;
}

/**
 * Whether JSON text may hold such keys at all; most does not, and is spared the walk. `JSON.stringify`
 * never escapes these letters.
 *
 * @internal
 */
export function mayHoldPrototypeKeys(text: string): boolean {
  return text.includes('"__proto__":') || (text.includes('"constructor":') && text.includes('"prototype":'));
}
