/**
 * The host's side of the dispatch: entering the tool, the timers of the race, and its end.
 *
 * @internal
 */
import { ToolRateLimitError } from '../../errors/rate-limit.js';
import { resolveSandbox } from '../../sandbox/index.js';
import type { SandboxKind, SandboxTrustLevel } from '../../sandbox/index.js';
import type { SandboxResult } from '../../core/index.js';
import type { Frame } from '../frame.js';
import { NO_PARTS } from '../frame.js';
import { CallScope, inScope } from '../scope.js';
import { guarded, settle, settleAborted, settleUnpacked, threw } from '../settle.js';
import { scannable, unpackAhead } from './results.js';

/** What a tool may ask for, as the tier that stands for it (spec 02 section 12). */
const WISHES: Readonly<Record<string, SandboxKind>> = {
  none: 'none',
  sandboxed: 'worker-threads',
  isolated: 'isolated-vm',
  docker: 'docker',
};

const RETURNED = 0;
const THREW_EVENT = 1;
const LIMIT_EXPIRED = 2;
const GRACE_EXPIRED = 4;
const FAULTS: Readonly<Record<string, number>> = {
  timeout: 5,
  'sandbox-violation': 6,
  'memory-exceeded': 6,
  aborted: 7,
  'execution-failed': 8,
};

/** A failed sandbox run as the `cause` of the call's failure. */
class SandboxOutcomeError extends Error {
  override readonly name = 'SandboxOutcomeError';
}

/** A call that ran into its limit. */
class InlineToolTimeoutError extends Error {
  override readonly name = 'InlineToolTimeoutError';
  readonly limitMs: number;
  constructor(limitMs: number) {
    super(`Tool execution exceeded the ${limitMs}ms wall-clock timeout.`);
    this.limitMs = limitMs;
  }
}

/** Asks the sandbox resolver. */
export function sandbox(frame: Frame): number {
  return guarded(frame, 'sandboxResolver', () => {
    const { sandboxPolicy } = frame.tool;
    const wish = sandboxPolicy !== undefined && Object.hasOwn(WISHES, sandboxPolicy) ? WISHES[sandboxPolicy] : undefined;
    const policy = resolveSandbox({
      trustLevel: frame.trustLevel as SandboxTrustLevel,
      toolName: frame.tool.name,
      ...(wish === undefined ? {} : { override: { kind: wish } }),
    });
    frame.sandboxPolicy = policy;
    const found = frame.state.options.sandboxResolver!(policy);
    frame.sandbox = found ?? undefined;
    return found ? 1 : 0;
  });
}

/** Opens what the tool runs in, once an attempt. */
export function scopeOf(frame: Frame): CallScope {
  frame.scope ??= new CallScope(frame, settleAborted);
  return frame.scope;
}

/**
 * Enters the tool and starts its limit; what it returns, throws or settles with becomes an event of
 * the race. Answers whether the call's own signal is aborted.
 */
export function enter(frame: Frame, epoch: number, sandboxed: number, limitMs: number): number {
  frame.dispatchEpoch = epoch;
  frame.startedAt = performance.now();
  try {
    const { ctx } = scopeOf(frame);
    if (sandboxed) {
      // An answer of no known shape is a failure like a rejection.
      Promise.resolve(runInSandbox(frame))
        .then((result) => sandboxAnswer(frame, epoch, result))
        .catch((error: unknown) => failed(frame, epoch, error));
    } else {
      const { tool } = frame;
      Promise.resolve(inScope(frame, () => tool.execute(frame.validated, ctx))).then(
        (value) => returned(frame, epoch, value),
        (error: unknown) => failed(frame, epoch, error),
      );
    }
  } catch (error) {
    void Promise.resolve().then(() => failed(frame, epoch, error));
  }
  // The limit starts when the synchronous part of the tool has run.
  if (limitMs > 0) frame.limitTimer = globalThis.setTimeout(() => settle(frame, epoch, LIMIT_EXPIRED), limitMs);
  return frame.scope?.aborted ? 1 : 0;
}

/** The tool has settled: the race is closed here, and the event says how. */
function settled(frame: Frame, epoch: number, code: number): void {
  settle(frame, epoch, code, close(frame));
}

function returned(frame: Frame, epoch: number, value: unknown): void {
  if (frame.dispatchEpoch !== epoch) return;
  frame.raw = value;
  const closed = close(frame);
  // With somebody to hear of the end before the result is looked at, the native side says when it is.
  if (closed < 0 || frame.guard || frame.span) {
    settle(frame, epoch, RETURNED, closed);
    return;
  }
  const unpacked = unpackAhead(frame);
  settleUnpacked(frame, epoch, RETURNED, closed, unpacked, unpacked < 0 ? undefined : scannable(frame));
}

function failed(frame: Frame, epoch: number, error: unknown): void {
  if (frame.dispatchEpoch !== epoch) return;
  threw(frame, 'execute', error);
  settled(frame, epoch, THREW_EVENT);
}

function runInSandbox(frame: Frame): Promise<SandboxResult> {
  const policy = frame.sandboxPolicy!;
  return frame.sandbox!.run(
    { kind: 'handler', module: frame.tool.name, export: 'execute' },
    {
      input: frame.validated,
      signal: scopeOf(frame).signal,
      ...(policy.timeoutMs > 0 ? { timeoutMs: policy.timeoutMs } : {}),
      ...(policy.maxMemoryMb > 0 ? { maxMemoryMb: policy.maxMemoryMb } : {}),
      allowNetwork: !policy.noNetwork,
      allowFs: !policy.noFilesystem,
    },
  );
}

function sandboxAnswer(frame: Frame, epoch: number, result: SandboxResult): void {
  if (frame.dispatchEpoch !== epoch) return;
  if (result?.ok) {
    returned(frame, epoch, result.output);
    return;
  }
  const error = result?.error ?? {
    kind: 'execution-failed',
    message: 'sandbox returned a non-ok result without error metadata',
  };
  const kind = Object.hasOwn(FAULTS, error.kind) ? error.kind : 'execution-failed';
  const options = 'cause' in error && error.cause !== undefined ? { cause: error.cause } : undefined;
  threw(frame, 'sandbox.run', new SandboxOutcomeError(`[sandbox:${frame.sandbox!.id}] ${kind}: ${error.message}`, options));
  settled(frame, epoch, FAULTS[kind] as number);
}

/** Starts the grace, once. */
export function startGrace(frame: Frame, ms: number): number {
  const epoch = frame.dispatchEpoch;
  if (epoch < 0) return 0;
  frame.graceTimer ??= globalThis.setTimeout(() => settle(frame, epoch, GRACE_EXPIRED), ms);
  return 0;
}

/** Aborts the call's own signal. */
export function abort(frame: Frame): number {
  frame.scope?.abort();
  return 0;
}

/** Keeps the error of a call that was given up on. */
export function giveUp(frame: Frame, limitMs: number): number {
  threw(frame, 'execute', limitMs >= 0 ? new InlineToolTimeoutError(limitMs) : new Error('aborted'));
  return 0;
}

/** Ends what {@link enter} and {@link scopeOf} began; may be called again. */
export function release(frame: Frame): void {
  frame.dispatchEpoch = -1;
  if (frame.limitTimer !== undefined) globalThis.clearTimeout(frame.limitTimer);
  if (frame.graceTimer !== undefined) globalThis.clearTimeout(frame.graceTimer);
  frame.limitTimer = undefined;
  frame.graceTimer = undefined;
  frame.predicate?.close();
  frame.scope?.close();
}

/** Nothing of an earlier attempt may show in a later one's. */
export function forgetAttempt(frame: Frame): void {
  release(frame);
  frame.scope = undefined;
  frame.error = undefined;
  frame.ran = false;
  frame.raw = undefined;
  frame.output = undefined;
  frame.checked = undefined;
  frame.text = '';
  frame.textParts = NO_PARTS;
  frame.nonText = NO_PARTS;
  frame.producer = undefined;
  frame.bound = undefined;
  frame.handle = undefined;
  frame.spillFlagged = false;
  frame.patterns = NO_PARTS;
  frame.sanitised = undefined;
  frame.taint = undefined;
  frame.outcome = undefined;
}

/** Ends the race: the duration; its complement below zero says that there are details to ask for. */
export function close(frame: Frame): number {
  // A clock that was replaced meanwhile may run backwards.
  const duration = Math.max(0, performance.now() - frame.startedAt);
  release(frame);
  frame.ran = true;
  frame.cancelled = frame.scope?.aborted === true;
  return frame.tool.__streamingHint || frame.cancelled ? -1 - duration : duration;
}

/** The wait a rate limit asks for; -2 when it names none, -1 for any other error. */
export function pacing(frame: Frame): number {
  const thrown = frame.error ? frame.error.cause : frame.thrown;
  if (!ToolRateLimitError.isInstance(thrown)) return -1;
  const wait = thrown.retryAfterMs;
  return wait === undefined ? -2 : Math.max(0, Number(wait) || 0);
}
