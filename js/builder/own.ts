import type { Tool } from '../core/index.js';

/** Every field of {@link Tool}; the type check below fails when one is missing. */
const TOOL_FIELDS = [
  'name',
  'description',
  'inputSchema',
  'outputSchema',
  'needsApproval',
  'sandboxPolicy',
  'tags',
  'executionMode',
  'secretsAllowed',
  'sensitivity',
  'memoryGuardTier',
  'inboundSanitization',
  'failClosed',
  'defer_loading',
  'maxResultTokens',
  'truncationStrategy',
  'examples',
  'examplesEagerlyRendered',
  'sideEffectClass',
  'idempotencyKey',
  'streamingHint',
  'preferredModel',
  'execute',
] as const satisfies ReadonlyArray<keyof Tool>;
type Missing = Exclude<keyof Tool, (typeof TOOL_FIELDS)[number]>;
true satisfies [Missing] extends [never] ? true : never;

/**
 * `new RoomForTool()` is an empty plain object with room for the fields of a resolved tool. V8 gives an
 * object as much room as the text of its constructor assigns fields, and later takes back what the first
 * few left unused; `{}` has room for four, and every three fields more mean a new, longer list of them.
 *
 * @internal
 */
export const RoomForTool = function (this: Record<string, unknown>, never?: true): void {
  if (never === undefined) return;
  this['a'] = this['b'] = this['c'] = this['d'] = this['e'] = this['f'] = this['g'] = this['h'] = never;
  this['i'] = this['j'] = this['k'] = this['l'] = this['m'] = this['n'] = this['o'] = this['p'] = never;
  this['q'] = this['r'] = this['s'] = this['t'] = this['u'] = this['v'] = this['w'] = this['x'] = never;
} as unknown as new () => object;
// So that nothing tells it from a literal.
RoomForTool.prototype = Object.prototype;

/**
 * A new object with the own enumerable properties of a tool, symbol and unknown keys included; each
 * getter is read once. Fields that an instance of a class has from its prototype come along too:
 * methods bound to the instance, so that its private state stays in reach.
 *
 * @internal
 */
export function copyTool<T extends object>(tool: T): T {
  // Assigned, not spread: V8 adds properties to a spread copy some twenty times slower, and the
  // registry adds a dozen. Only an own `__proto__` must not go through the setter.
  const copy: T = Object.hasOwn(tool, '__proto__') ? { ...tool } : Object.assign(new RoomForTool(), tool);
  const prototype: unknown = Object.getPrototypeOf(tool);
  if (prototype !== Object.prototype && prototype !== null) copyInherited(tool, copy);
  return copy;
}

function copyInherited(tool: object, copy: object): void {
  for (const field of TOOL_FIELDS) {
    if (Object.hasOwn(copy, field) || !(field in tool)) continue;
    const value: unknown = (tool as Record<string, unknown>)[field];
    (copy as Record<string, unknown>)[field] = typeof value === 'function' ? value.bind(tool) : value;
  }
}
