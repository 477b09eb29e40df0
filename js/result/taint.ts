const TRUSTED = new Set<unknown>(['first-party-built-in', 'first-party-user-defined', 'skill-trusted']);

/**
 * Whether a class reported for a stored result makes it untrusted. A class nobody knows does; no
 * class at all says nothing.
 *
 * @internal
 */
export function isUntrustedProducer(trustClass: unknown): boolean {
  return typeof trustClass === 'string' && !TRUSTED.has(trustClass);
}
