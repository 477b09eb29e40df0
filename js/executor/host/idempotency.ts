/**
 * The host's side of idempotency: the key, and with an `idempotencyStore` the entry of a call from
 * its look-up to its storing.
 *
 * @internal
 */
import { builtins } from '../../builtins.js';
import type { ToolOutcome } from '../../core/index.js';
import type { Frame } from '../frame.js';
import { awaited } from '../settle.js';
import { inScope } from '../scope.js';
import { scopeOf } from './dispatch.js';
import { recordReplay } from './flow.js';

const FRESH = 0;
const REPLAYED = 1;
const CONFLICT = 2;
const FAILED = 3;
const FAILED_WITH_CAUSE = 4;

/** Evaluates the idempotency key; what it throws leaves no key, and so does an answer that is none. */
export function idempotencyKey(frame: Frame, epoch: number): number {
  const { tool } = frame;
  frame.idempotencyKey = undefined;
  return awaited(
    frame,
    epoch,
    'idempotencyKey',
    () => inScope(frame, () => tool.idempotencyKey!.call(tool, frame.validated, scopeOf(frame).ctx)),
    (key: string | null | undefined) => {
      if (key === undefined || key === null) return 0;
      frame.idempotencyKey = key;
      return key === '' ? 2 : 1;
    },
  );
}

/** A digest of what is asked for: tool and effective arguments, keys in any order. */
function fingerprint(frame: Frame): string {
  const sorted = (_: string, value: unknown): unknown =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : typeof value === 'bigint'
        ? `${value}n`
        : value;
  const text = JSON.stringify([frame.tool.name, frame.effective ?? null], sorted);
  return builtins.crypto().createHash('sha256').update(text).digest('hex');
}

/** Asks the idempotency store; joins the same call in flight. */
export function idempotent(frame: Frame, epoch: number): number {
  // An attempt after the first keeps the entry of the first. An empty key would join strangers.
  if (frame.idempotent || !frame.idempotencyKey) return FRESH;
  const key = `${frame.tool.name}\u0000${frame.idempotencyKey}`;
  return awaited(
    frame,
    epoch,
    'idempotencyStore.get',
    () => lookUp(frame, key),
    (code) => code,
  );
}

/** A store may hand out anything. */
const isOutcome = (value: unknown): value is ToolOutcome => typeof value === 'object' && value !== null;

async function lookUp(frame: Frame, key: string): Promise<number> {
  const wanted = fingerprint(frame);
  const { inFlight } = frame.state;
  for (let running = inFlight.get(key); running; running = inFlight.get(key)) {
    if (running.fingerprint !== wanted) return CONFLICT;
    const joined = await running.done;
    // An abort may have ended this call while it waited.
    if (frame.closed) return FRESH;
    // Somebody else's cancellation is not this call's outcome: look again.
    if (joined && !('kind' in joined && joined.kind === 'aborted')) return replay(frame, joined);
  }
  const release = claim(frame, key, wanted);
  const stored = await frame.state.options.idempotencyStore!.get(key);
  if (!stored) return FRESH;
  // The claim is kept until everything has been read: what throws here ends the call, whose end lets
  // those who joined it go on.
  const { outcome, fingerprint: kept } = stored;
  if (!isOutcome(outcome)) {
    throw new TypeError(`idempotencyStore.get: the entry of ${JSON.stringify(key)} has no outcome.`);
  }
  frame.idempotent = undefined;
  const fits = kept === wanted;
  release(fits ? outcome : undefined);
  return fits ? replay(frame, outcome) : CONFLICT;
}

/** Makes this call the one others join until {@link storeIdempotent} or the release given back. */
function claim(frame: Frame, key: string, wanted: string): (outcome: ToolOutcome | undefined) => void {
  const { inFlight } = frame.state;
  let resolve!: (outcome: ToolOutcome | undefined) => void;
  const done = new Promise<ToolOutcome | undefined>((settleDone) => {
    resolve = settleDone;
  });
  const entry = { fingerprint: wanted, done };
  const release = (outcome: ToolOutcome | undefined): void => {
    if (inFlight.get(key) === entry) inFlight.delete(key);
    resolve(outcome);
  };
  inFlight.set(key, entry);
  frame.idempotent = { key, fingerprint: wanted, release };
  return release;
}

/** Takes another call's outcome over under this call's id. */
function replay(frame: Frame, outcome: ToolOutcome): number {
  if (!('kind' in outcome)) {
    frame.outcome = { ...outcome, toolCallId: frame.call.toolCallId };
    recordReplay(frame, outcome.output);
    return REPLAYED;
  }
  frame.joined = outcome;
  frame.thrown = outcome.cause;
  return 'cause' in outcome ? FAILED_WITH_CAUSE : FAILED;
}

/** Stores what a call came to, where it succeeded, and lets those who joined it go on. */
export function storeIdempotent(frame: Frame, outcome: ToolOutcome): void {
  const { idempotent: own } = frame;
  if (!own) return;
  frame.idempotent = undefined;
  if (!('kind' in outcome)) {
    try {
      const entry = { fingerprint: own.fingerprint, outcome };
      const stored: unknown = frame.state.options.idempotencyStore!.set(own.key, entry);
      // Losing the entry costs a repeated call its replay, never this call its result.
      Promise.resolve(stored).catch(() => {});
    } catch {
      // As above.
    }
  }
  own.release(outcome);
}
