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
import { guarded, settle, threw } from '../settle.js';
import { inScope } from './before.js';

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

/**
 * Enters the tool and starts its limit; what it returns, throws or settles with becomes an event of
 * the race. Answers whether the call's own signal is aborted.
 */
export function enter(frame: Frame, epoch: number, sandboxed: number, limitMs: number): number {
  frame.dispatchEpoch = epoch;
  frame.startedAt = performance.now();
  const event = (code: number): void => {
    if (frame.dispatchEpoch === epoch) settle(frame, epoch, code);
  };
  const returned = (value: unknown): void => {
    if (frame.dispatchEpoch !== epoch) return;
    frame.raw = value;
    event(RETURNED);
  };
  const failed = (error: unknown): void => {
    if (frame.dispatchEpoch !== epoch) return;
    threw(frame, 'execute', error);
    event(THREW_EVENT);
  };
  try {
    if (sandboxed) {
      // An answer of no known shape is a failure like a rejection.
      const answered = (result: SandboxResult): void => sandboxAnswer(frame, result, returned, event);
      Promise.resolve(runInSandbox(frame)).then(answered).catch(failed);
    } else {
      const { tool } = frame;
      Promise.resolve(inScope(frame, () => tool.execute(frame.validated, frame.ctx!))).then(returned, failed);
    }
  } catch (error) {
    failed(error);
  }
  // The limit starts when the synchronous part of the tool has run.
  if (limitMs > 0) frame.limitTimer = globalThis.setTimeout(() => settle(frame, epoch, LIMIT_EXPIRED), limitMs);
  return frame.controller?.signal.aborted ? 1 : 0;
}

function runInSandbox(frame: Frame): Promise<SandboxResult> {
  const policy = frame.sandboxPolicy!;
  return frame.sandbox!.run(
    { kind: 'handler', module: frame.tool.name, export: 'execute' },
    {
      input: frame.validated,
      signal: frame.controller!.signal,
      ...(policy.timeoutMs > 0 ? { timeoutMs: policy.timeoutMs } : {}),
      ...(policy.maxMemoryMb > 0 ? { maxMemoryMb: policy.maxMemoryMb } : {}),
      allowNetwork: !policy.noNetwork,
      allowFs: !policy.noFilesystem,
    },
  );
}

function sandboxAnswer(
  frame: Frame,
  result: SandboxResult,
  returned: (value: unknown) => void,
  event: (code: number) => void,
): void {
  if (result?.ok) {
    returned(result.output);
    return;
  }
  const error = result?.error ?? {
    kind: 'execution-failed',
    message: 'sandbox returned a non-ok result without error metadata',
  };
  const kind = Object.hasOwn(FAULTS, error.kind) ? error.kind : 'execution-failed';
  const options = 'cause' in error && error.cause !== undefined ? { cause: error.cause } : undefined;
  threw(frame, 'sandbox.run', new SandboxOutcomeError(`[sandbox:${frame.sandbox!.id}] ${kind}: ${error.message}`, options));
  event(FAULTS[kind] as number);
}

/** Starts the grace, once. */
export function startGrace(frame: Frame, ms: number): number {
  const epoch = frame.dispatchEpoch;
  frame.graceTimer ??= globalThis.setTimeout(() => settle(frame, epoch, GRACE_EXPIRED), ms);
  return 0;
}

/** Aborts the call's own signal. */
export function abort(frame: Frame): number {
  frame.controller?.abort();
  return 0;
}

/** Keeps the error of a call that was given up on. */
export function giveUp(frame: Frame, limitMs: number): number {
  threw(frame, 'execute', limitMs >= 0 ? new InlineToolTimeoutError(limitMs) : new Error('aborted'));
  return 0;
}

/** Ends what {@link enter} and `open` began; may be called again. */
export function release(frame: Frame): void {
  frame.dispatchEpoch = -1;
  if (frame.limitTimer !== undefined) globalThis.clearTimeout(frame.limitTimer);
  if (frame.graceTimer !== undefined) globalThis.clearTimeout(frame.graceTimer);
  frame.limitTimer = undefined;
  frame.graceTimer = undefined;
  frame.releasePredicate?.();
  frame.channel?.abort('finished');
  frame.detach?.();
  frame.detach = undefined;
}

/** Ends the race: the duration; its complement below zero says that there are details to ask for. */
export function close(frame: Frame): number {
  // A clock that was replaced meanwhile may run backwards.
  const duration = Math.max(0, performance.now() - frame.startedAt);
  release(frame);
  frame.ran = true;
  frame.cancelled = frame.controller?.signal.aborted === true;
  return frame.tool.__streamingHint || frame.cancelled ? -1 - duration : duration;
}

/** The wait a rate limit asks for; -2 when it names none, -1 for any other error. */
export function pacing(frame: Frame): number {
  const thrown = frame.error ? frame.error.cause : frame.thrown;
  if (!(thrown instanceof ToolRateLimitError)) return -1;
  const wait = thrown.retryAfterMs;
  return wait === undefined ? -2 : Math.max(0, Number(wait) || 0);
}
