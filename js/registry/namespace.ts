import type { ToolSource } from '../core/index.js';
import { describeSource, sourceIdentity } from './source.js';

const MAX_NAME_LENGTH = 128;
const MAX_NAMESPACE_LENGTH = 24;
/** `-` and eight hex digits. */
const HASH_LENGTH = 9;

/** 32-bit FNV-1a over UTF-16 code units, as 8 hex digits. @internal */
export function fnv1a(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** Lower-cased, every run of other characters than `[a-z0-9]` one dash, 24 characters at most. */
function sanitise(text: string): string {
  const dashed = text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const start = dashed.startsWith('-') ? 1 : 0;
  const end = dashed.endsWith('-') ? dashed.length - 1 : dashed.length;
  return dashed.slice(start, Math.max(start, end)).slice(0, MAX_NAMESPACE_LENGTH);
}

/** The prefix of a source. @internal */
export interface Namespace {
  /** Goes before the name; never empty. */
  readonly prefix: string;
  /** The same before the fallback for identities without a letter or digit; may be empty. */
  readonly label: string;
}

/** Works out the prefix of a source (spec 01 section 6.5.1). @internal */
export function namespaceOf(source: ToolSource): Namespace {
  const label = sanitise(sourceIdentity(source));
  const prefix = label === '' ? sanitise(`${source.kind}-${fnv1a(describeSource(source))}`) : label;
  return { prefix, label };
}

/** The name a loser gets; an overlong one is cut and told apart by a hash of the whole. @internal */
export function prefixedName(prefix: string, name: string): string {
  const candidate = `${prefix}.${name}`;
  if (candidate.length <= MAX_NAME_LENGTH) return candidate;
  return `${candidate.slice(0, MAX_NAME_LENGTH - HASH_LENGTH)}-${fnv1a(candidate)}`;
}
