const tag = (value: unknown): string => Object.prototype.toString.call(value);

function messageOf(thrown: unknown): string | undefined {
  // An error of another realm, such as Node's own in a test runner's, is an error all the same.
  if (thrown instanceof Error || tag(thrown) === '[object Error]') return String((thrown as Error).message);
  if (typeof thrown === 'string') return thrown;
  return JSON.stringify(thrown);
}

/**
 * The text of a thrown value for messages: an Error's message, a string itself, otherwise its JSON,
 * otherwise its tag such as `[object Object]` (spec 02 section 6.3). Never throws: user code can throw
 * what throws again when it is looked at.
 *
 * @internal
 */
export function renderThrown(thrown: unknown): string {
  try {
    const text = messageOf(thrown);
    if (text !== undefined) return text;
  } catch {
    // Cycles and BigInt have no JSON; a getter of the message may throw, and a proxy at anything.
  }
  if (thrown === undefined) return 'undefined';
  try {
    return tag(thrown);
  } catch {
    return '[unreadable]';
  }
}
