/**
 * The text of a thrown value for messages: an Error's message, a string itself, otherwise its JSON,
 * otherwise its tag such as `[object Object]` (spec 02 section 6.3).
 *
 * @internal
 */
export function renderThrown(thrown: unknown): string {
  if (thrown instanceof Error) return String(thrown.message);
  if (typeof thrown === 'string') return thrown;
  try {
    const text = JSON.stringify(thrown);
    if (text !== undefined) return text;
  } catch {
    // Cycles and BigInt have no JSON.
  }
  if (thrown === undefined) return 'undefined';
  return Object.prototype.toString.call(thrown);
}
