/**
 * What the pipeline decides by, packed into one number for the way to the native side.
 *
 * @internal
 */
import type { CallRuntime } from '../../native/binding.js';
import type { ResolvedTool } from '../core/index.js';

/** The members in the order the native side counts them. */
export const SIDE_EFFECT_CLASSES = ['pure', 'read-only', 'side-effecting', 'external-stateful'] as const;
/** The members in the order the native side counts them. */
export const TRUST_CLASSES = [
  'first-party-built-in',
  'first-party-user-defined',
  'skill-trusted',
  'skill-untrusted',
  'mcp-derived',
  'web-search',
  'channel-inbound',
] as const;
/** The members in the order the native side counts them. */
export const SENSITIVITIES = ['public', 'internal', 'secret'] as const;
/** The members in the order the native side counts them. */
export const TRUNCATIONS = ['middle', 'tail', 'spill-to-file', 'summarize'] as const;
/** The members in the order the native side counts them. */
export const INBOUND_POLICIES = [
  'pass-through',
  'detect-and-flag',
  'detect-and-strip',
  'detect-and-wrap',
  'detect-and-strip-and-wrap',
] as const;
const MEMORY_TIERS = ['pure', 'side-effecting-no-memory', 'memory-aware', 'unknown', 'untrusted'] as const;
const SANDBOX_POLICIES = ['none', 'sandboxed', 'isolated', 'docker'] as const;

/** Cap of a result when the entry has none. */
const DEFAULT_MAX_RESULT_TOKENS = 16384;

/** 0 for absent or unknown, members from 1. */
function optional(all: ReadonlyArray<string>, member: string | undefined): number {
  return member === undefined ? 0 : all.indexOf(member) + 1;
}

let runtime: CallRuntime | undefined;

/** Names the runtime that keeps the facts. */
export function bindFacts(bound: CallRuntime): void {
  runtime = bound;
}

// Entries of a registry are frozen and stay the same object until replaced, so the native side keeps
// their facts as long as they live, under a number.
const interned = new WeakMap<object, number>();
const forgotten = new FinalizationRegistry<number>((id) => runtime?.forget(id));

/** What `lookup` answers for a tool that is described for this call alone. */
export const DESCRIBED = 2;

/** Tells the native side of an entry. Returns what `lookup` is to answer. */
export function describe(slot: number, entry: ResolvedTool): number {
  const known = interned.get(entry);
  if (known !== undefined) return DESCRIBED + 1 + known;
  const bits = packFacts(entry);
  const cap = numberOf(entry.maxResultTokens ?? DEFAULT_MAX_RESULT_TOKENS);
  if (typeof entry !== 'object' || !Object.isFrozen(entry)) {
    runtime!.describe(slot, bits, cap, entry.name);
    return DESCRIBED;
  }
  const id = runtime!.intern(bits, cap, entry.name);
  interned.set(entry, id);
  forgotten.register(entry, id);
  return DESCRIBED + 1 + id;
}

/** A cap that is no number counts as JavaScript compares it, and what cannot be compared as NaN. Only 0 itself is no cap. */
function numberOf(cap: unknown): number {
  if (typeof cap === 'number') return cap;
  try {
    return Number(cap) || Number.NaN;
  } catch {
    return Number.NaN;
  }
}

/** The layout is read by `unpack_facts` in `src/node/executor`. */
function packFacts(entry: ResolvedTool): number {
  let bits = 0;
  let at = 0;
  const put = (value: number, width: number): void => {
    bits |= value << at;
    at += width;
  };
  // An entry with a class nobody knows is treated like the most dangerous one.
  const known_class = SIDE_EFFECT_CLASSES.indexOf(entry.__sideEffectClass);
  put(known_class < 0 ? 3 : known_class, 2);
  const trust = TRUST_CLASSES.indexOf(entry.__trustClass);
  put(trust < 0 ? 6 : trust, 3);
  put(optional(SENSITIVITIES, entry.sensitivity), 2);
  put(optional(MEMORY_TIERS, entry.memoryGuardTier), 3);
  put(optional(INBOUND_POLICIES, entry.inboundSanitization), 3);
  put(optional(TRUNCATIONS, entry.truncationStrategy), 3);
  put(optional(SANDBOX_POLICIES, entry.sandboxPolicy), 3);
  const approval = entry.needsApproval;
  put(typeof approval === 'function' ? 2 : approval ? 1 : 0, 2);
  put(entry.failClosed === true ? 1 : 0, 1);
  put(entry.__hasIdempotencyKey ? 1 : 0, 1);
  put(typeof entry.idempotencyKey === 'function' ? 1 : 0, 1);
  put(entry.__streamingHint ? 1 : 0, 1);
  put(entry.outputSchema ? 1 : 0, 1);
  return bits;
}
