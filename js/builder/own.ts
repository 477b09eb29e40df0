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
 * A new object with the own enumerable properties of a tool, symbol and unknown keys included; each
 * getter is read once. Fields that an instance of a class has from its prototype come along too:
 * methods bound to the instance, so that its private state stays in reach.
 *
 * @internal
 */
export function copyTool<T extends object>(tool: T): T {
  // Assigned, not spread: V8 adds properties to a spread copy some twenty times slower, and the
  // registry adds a dozen. Only an own `__proto__` must not go through the setter.
  const copy: T = Object.hasOwn(tool, '__proto__') ? { ...tool } : Object.assign({}, tool);
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
