/**
 * A value as an error message shows it: JSON where there is JSON, the class tag where there is none
 * (bigints, cycles). Never throws.
 *
 * @internal
 */
export function describeValue(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  try {
    return String(JSON.stringify(value));
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** The message inside a validation error, or a pointer to the field that holds it. @internal */
export function describeValidation(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error) {
    return String(error.message);
  }
  return 'see validationError';
}

/** The longest name that a message shows whole; tools have names of 128 characters at most. */
const LONGEST_NAME = 256;

/**
 * A tool's name as a message shows it: one that is far longer than names are is cut.
 *
 * @internal
 */
export function shownName(name: string): string {
  const text = String(name);
  return text.length <= LONGEST_NAME ? text : `${text.slice(0, 200).replace(/[\ud800-\udbff]$/, '')}…`;
}
