/**
 * Whether a text holds personal data.
 *
 * @packageDocumentation
 */
import { native } from '../binding.js';

/** A pattern of your own, in place of the built-in ones. */
export interface PiiPattern {
  /** A name for it; not read here. */
  readonly kind: string;
  /** What it looks for. */
  readonly pattern: RegExp;
  /** Has the last word about each match. */
  readonly validate?: (match: string) => boolean;
}

const UNSEEN = /[\u00AD\u200B-\u200F\u2060\uFEFF]/g;

/**
 * Whether `text` holds an e-mail address, US social security or telephone number, payment card, IBAN
 * or bitcoin address. Full-width forms and invisible characters do not hide them.
 *
 * Linear in the length of the text. With patterns of your own, those are tried instead, and cost what
 * they cost.
 *
 * @example
 * const ledger = createTaintLedger({ piiSensitivity: containsPii });
 */
export function containsPii(text: string, patterns?: readonly PiiPattern[]): boolean {
  if (typeof text !== 'string') throw new TypeError('containsPii needs a string.');
  if (!Array.isArray(patterns)) return native().containsPii(text);
  const plain = text.normalize('NFKC').replace(UNSEEN, '');
  return (patterns as readonly PiiPattern[]).some((entry) => {
    const { pattern } = entry;
    const flags = pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`;
    // A copy: a global expression keeps its place between uses.
    for (const [match] of plain.matchAll(new RegExp(pattern.source, flags))) {
      if (entry.validate === undefined || entry.validate(match)) return true;
    }
    return false;
  });
}
