import type { MessageContent } from './message.js';
import type { ToolReturn, ToolReturnTaint } from './types.js';

/** Marks a value as a {@link ToolReturn}; registered, so that copies of this package agree on it. */
export const TOOL_RETURN_BRAND: unique symbol = Symbol.for('graphorin.ToolReturn') as never;

const ENVELOPE_KEYS = new Set(['output', 'contentParts', 'taint']);

/**
 * Wraps an output with content parts or taint. The result is a new, unfrozen object that holds
 * `contentParts` and `taint` only when they are given.
 *
 * @example return toolReturn({ output: page, taint: { untrusted: true } });
 */
export function toolReturn<T>(fields: {
  readonly output: T;
  readonly contentParts?: ReadonlyArray<MessageContent> | undefined;
  readonly taint?: ToolReturnTaint | undefined;
}): ToolReturn<T> {
  return {
    [TOOL_RETURN_BRAND]: true,
    output: fields.output,
    ...(fields.contentParts === undefined ? {} : { contentParts: fields.contentParts }),
    ...(fields.taint === undefined ? {} : { taint: fields.taint }),
  };
}

function isBranded(value: object): boolean {
  return (value as { [TOOL_RETURN_BRAND]?: unknown })[TOOL_RETURN_BRAND] === true;
}

/**
 * Whether a tool's return value is an envelope: it carries the brand, or has an own `output` and no
 * own enumerable string key besides `output`, `contentParts` and `taint` (spec 01 section 2.6).
 */
export function isToolReturnEnvelope(value: unknown): value is ToolReturn {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (isBranded(value)) return true;
  if (!Object.hasOwn(value, 'output')) return false;
  return Object.keys(value).every((key) => ENVELOPE_KEYS.has(key));
}

/** Whether a value passes {@link isToolReturnEnvelope} by its shape alone. */
export function isUnbrandedToolReturn(value: unknown): boolean {
  return isToolReturnEnvelope(value) && !isBranded(value);
}
