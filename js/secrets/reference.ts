/**
 * Secret references: `scheme:path?query#fragment`, a place where a secret is, not the secret.
 *
 * @packageDocumentation
 */
import { native } from '../binding.js';
import { SecretRefParseError, type SecretRefParseErrorKind } from './errors.js';

/** A parsed reference. Frozen. */
export interface ParsedSecretRef {
  /** As it was written. */
  readonly raw: string;
  /** In lower case. */
  readonly scheme: string;
  /** What stands between `//` and the path, as written; absent without `//`. */
  readonly authority?: string;
  /** Decoded. */
  readonly path: string;
  /** Decoded; the last value of each name. Has no prototype. */
  readonly query: Readonly<Record<string, string>>;
  /** Decoded; absent when empty. */
  readonly fragment?: string;
}

const EXPLANATIONS: Readonly<Record<SecretRefParseErrorKind, string>> = {
  'empty-input': 'a secret reference must not be empty',
  'invalid-scheme': 'a secret reference begins with a scheme: a letter, then letters, digits, "+", "-" or "."',
  'malformed-uri': 'a secret reference has the form scheme:path, in the characters of a URI',
  'unexpected-authority': 'this scheme takes a plain path; write scheme:path without "//"',
  'empty-path': 'a secret reference must name something after its scheme',
  'invalid-percent-encoding': 'a "%" in a secret reference must be followed by two hex digits',
  'naked-string': 'this looks like a secret itself, not like a reference to one',
};

const REF_HINT = "Write a reference such as 'env:API_KEY'; never put a raw secret where a reference belongs.";

/** The beginning and the length: enough to find the place, too little to use. */
function redact(text: string): string {
  return `${text.slice(0, 4)}… (${text.length} characters)`;
}

function fail(kind: SecretRefParseErrorKind, input: string, position?: number): never {
  const at = position === undefined ? '' : ` (at character ${position})`;
  // A text without a scheme is most often a raw secret: it must not end up in a log.
  const shown = input === '' ? '' : `: ${redact(input)}`;
  throw new SecretRefParseError(kind, `Invalid secret reference${shown}: ${EXPLANATIONS[kind]}${at}.`, input, {
    hint: REF_HINT,
    ...(position !== undefined && { position }),
  });
}

/**
 * Parses a reference. Throws {@link SecretRefParseError}, whose message shows no more than the first
 * four characters of the text.
 *
 * @example parseSecretRef('env:API_KEY?default=none').path; // 'API_KEY'
 */
export function parseSecretRef(text: string): ParsedSecretRef {
  if (typeof text !== 'string') {
    throw new SecretRefParseError('malformed-uri', `Invalid secret reference: ${EXPLANATIONS['malformed-uri']}.`, text, {
      hint: REF_HINT,
    });
  }
  const parsed = native().parseSecretRef(text);
  if (parsed.fault !== undefined) fail(parsed.fault as SecretRefParseErrorKind, text, parsed.position);
  const { scheme = '', authority, path = '', names = [], values = [], fragment } = parsed;
  const query = Object.create(null) as Record<string, string>;
  names.forEach((name, at) => {
    query[name] = values[at] ?? '';
  });
  return Object.freeze({
    raw: text,
    scheme,
    ...(authority !== undefined && { authority }),
    path,
    query: Object.freeze(query),
    ...(fragment !== undefined && { fragment }),
  });
}

/**
 * Throws {@link SecretRefParseError} of kind `naked-string` when a text has no scheme. Message and
 * `input` show no more than its first four characters.
 */
export function assertNotNakedString(text: string): void {
  if (typeof text !== 'string' || text.indexOf(':') > 0) return;
  throw new SecretRefParseError(
    'naked-string',
    `Invalid secret reference: ${redact(text)}: ${EXPLANATIONS['naked-string']}.`,
    redact(text),
    { hint: REF_HINT },
  );
}

/** {@link assertNotNakedString}, then {@link parseSecretRef}. */
export function parseOrAssert(text: string): ParsedSecretRef {
  assertNotNakedString(text);
  return parseSecretRef(text);
}
