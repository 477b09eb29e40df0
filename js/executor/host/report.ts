/**
 * The host's side of reporting: spans, audit rows, events, and the record that ends a call.
 *
 * @internal
 */
import { AsyncResource } from 'node:async_hooks';
import type { FailureRecord } from '../../../native/binding.js';
import { emitToolAudit } from '../../audit/index.js';
import type { AISpan, CompletedToolCall, RecoveryHint, SpanAttributes, ToolCall, ToolError, ToolErrorKind } from '../../core/index.js';
import { onAbort } from '../abort.js';
import { closeFrame, THREW } from '../frame.js';
import type { Frame } from '../frame.js';
import { LONGEST_WAIT_MS } from '../options.js';
import { guarded, runAttempt, settle, settleSpan, threw, watchAbort } from '../settle.js';
import { renderThrown } from '../thrown.js';
import { renderText } from '../../result/text.js';
import type { ExecutorEvent } from '../types.js';
import { release } from './dispatch.js';
import { recordFailure } from './flow.js';
import { storeIdempotent } from './idempotency.js';
import { assemble } from './results.js';
import { rowOf, unawaited } from './unawaited.js';

/** How long a tracer may take to settle after an attempt has ended, in milliseconds. */
const TRACER_GRACE_MS = 1_000;

function creationAttributes(frame: Frame): SpanAttributes {
  const { tool, call } = frame;
  return {
    'graphorin.tool.name': tool.name,
    'graphorin.tool.call_id': call.toolCallId,
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool.name,
    'gen_ai.tool.call.id': call.toolCallId,
    'graphorin.tool.side_effect_class': tool.__sideEffectClass,
    'graphorin.tool.streaming_hint': tool.__streamingHint === true,
    'graphorin.tool.trust_class': tool.__trustClass,
    ...(tool.sensitivity === undefined ? {} : { 'graphorin.tool.sensitivity': tool.sensitivity }),
    ...(tool.memoryGuardTier === undefined
      ? {}
      : { 'graphorin.tool.memory_guard.tier': tool.memoryGuardTier }),
    ...(showsContent(frame, 'args') ? { 'gen_ai.tool.call.arguments': renderText(call.args) } : {}),
  };
}

/** Whether arguments or results may stand on the span: only when asked for, never of a secret tool. */
function showsContent(frame: Frame, which: 'args' | 'result'): boolean {
  return frame.state.options.spanContent?.[which] === true && frame.tool.sensitivity !== 'secret';
}

/** Puts the text the model will read on the span, when asked for. */
export function spanResult(frame: Frame): void {
  if (!showsContent(frame, 'result')) return;
  guarded(frame, 'span.setAttributes', () => {
    frame.span?.setAttributes({ 'gen_ai.tool.call.result': frame.body });
    return 0;
  });
}

/**
 * Opens a span with the run's tracer and runs the attempt inside. The function given to the tracer
 * settles when the attempt does: with the record, or by throwing, so that any tracer sees a failure.
 */
export function openSpan(frame: Frame, epoch: number): number {
  frame.spanEpoch = epoch;
  frame.spanRan = false;
  frame.spanEnding = undefined;
  frame.attemptEnded = false;
  frame.attemptFailed = false;
  // Registered here, the end runs in the context the call was started in, whatever context the
  // tracer has opened for the attempt: the next call of a batch is started from it.
  void new Promise<number>((resolve) => {
    frame.spanOver = resolve;
  }).then((code) => settleSpan(frame, epoch, code));
  const { runContext } = frame;
  frame.spanLeave = undefined;
  const body = (span: AISpan): Promise<CompletedToolCall> => {
    if (frame.spanEpoch !== epoch || frame.spanRan) {
      return Promise.reject(new Error('The tracer ran the body of a tool span twice.'));
    }
    frame.spanRan = true;
    frame.spanLeave?.();
    frame.span = span as typeof frame.span;
    frame.context = new AsyncResource('ferrule.call');
    const attempt = new Promise<CompletedToolCall>((resolve, reject) => {
      frame.settleAttempt = (success) => {
        if (success) resolve(recordOf(frame));
        else reject(rejectionOf(frame));
      };
    });
    // The tracer may drop the promise; a failure of the tool is not an unhandled rejection.
    attempt.catch(() => {});
    runAttempt(frame);
    return attempt;
  };
  try {
    const settled = runContext.tracer.span(
      {
        type: 'tool.execute',
        ...(runContext.span === undefined ? {} : { parent: runContext.span }),
        attrs: creationAttributes(frame),
      },
      body,
    );
    if (!frame.spanRan) {
      // A tracer that never runs the body holds the call only as long as its run.
      frame.spanLeave = watchAbort(frame, () => {
        if (frame.spanRan || frame.spanEpoch !== epoch) return;
        frame.spanEpoch = -1;
        threw(frame, 'run.signal', new Error('aborted'));
        frame.spanOver?.(THREW);
      });
    }
    Promise.resolve(settled).then(
      () => spanSettled(frame, epoch, 0),
      (error: unknown) => {
        // After a failed attempt the tracer hands on that very failure.
        if (!frame.attemptFailed) threw(frame, 'tracer.span', error);
        spanSettled(frame, epoch, THREW);
      },
    );
    return 0;
  } catch (error) {
    if (!frame.spanRan) return threw(frame, 'tracer.span', error);
    // The attempt is on its way; the tracer is not needed to end it.
    spanSettled(frame, epoch, 0);
    return 0;
  }
}

/** What the tracer is told of a failed attempt. */
function rejectionOf(frame: Frame): unknown {
  const { error } = frame;
  if (!error) return frame.thrown ?? new Error('The call was left by a thrown undefined.');
  return error.cause ?? new Error(error.message);
}

/** The tracer is done. The span is over when the attempt is too. */
function spanSettled(frame: Frame, epoch: number, code: number): void {
  if (frame.spanEpoch !== epoch) return;
  if (frame.spanTimer !== undefined) globalThis.clearTimeout(frame.spanTimer);
  frame.spanTimer = undefined;
  frame.spanEnding = code;
  if (frame.attemptEnded) {
    frame.spanOver?.(code);
  } else if (!frame.spanRan) {
    frame.spanLeave?.();
    if (code === 0) {
      threw(frame, 'tracer.span', new Error('The tracer settled without running the body of the tool span.'));
    }
    frame.spanOver?.(THREW);
  }
}

/** The attempt has ended: lets the tracer end the span, which ends the attempt for the pipeline. */
export function closeSpan(frame: Frame, epoch: number, success: number): number {
  release(frame);
  const { settleAttempt } = frame;
  frame.settleAttempt = undefined;
  frame.attemptEnded = true;
  frame.attemptFailed = success !== 1;
  if (frame.spanEnding !== undefined) {
    frame.spanOver?.(frame.spanEnding);
  } else {
    // A tracer that never settles must not hold the call.
    frame.spanTimer = globalThis.setTimeout(() => spanSettled(frame, epoch, 0), TRACER_GRACE_MS);
  }
  settleAttempt?.(success === 1);
  return 0;
}

/** Sets attributes. */
export function spanAttributes(frame: Frame, attributes: SpanAttributes): number {
  return guarded(frame, 'span.setAttributes', () => {
    unawaited(frame, 'span.setAttributes', frame.span?.setAttributes(attributes) as unknown);
    return 0;
  });
}

/** Sets the status and records the thrown value. */
export function spanFailed(frame: Frame, cancelled: boolean, message: string): number {
  return guarded(frame, 'span.setStatus', () => {
    frame.span?.setAttributes({ 'error.type': frame.error?.kind ?? 'execution_failed' });
    frame.span?.setStatus(cancelled ? 'cancelled' : 'error', message);
    frame.span?.recordException(frame.error ? frame.error.cause : frame.thrown);
    return 0;
  });
}

/** Emits a row. */
export function audit(frame: Frame, action: string, decision: string, metadata: object | undefined): number {
  // A copy: what the native side makes belongs to another realm where tests run in one of their own.
  const row = rowOf(frame, action, decision, metadata && { ...metadata });
  const { emitAudit } = frame.state.options;
  if (!emitAudit) {
    emitToolAudit(row);
    return 0;
  }
  const { thrown, callback } = frame;
  const code = guarded(frame, 'emitAudit', () => {
    unawaited(frame, 'emitAudit', emitAudit(row));
    return 0;
  });
  // A row about a thrown value must not replace it, unless the auditor itself ends the call.
  if (code === 0) frame.callback = callback;
  if (code === 0 || frame.ran) frame.thrown = thrown;
  return code;
}

/** A value an audit row holds by reference. */
export function held(frame: Frame, which: number): unknown {
  if (which === 0) return [...(frame.sourceKinds ?? [])];
  if (which === 1) return [...(frame.regions ?? [])];
  if (which === 2) return [...frame.patterns];
  return frame.idempotencyKey;
}

function emit(frame: Frame, event: ExecutorEvent): number {
  const sink = frame.state.options.streamingSink;
  if (!sink) return 0;
  return guarded(frame, 'streamingSink', () => {
    unawaited(frame, 'streamingSink', sink(event));
    return 0;
  });
}

/** Keeps a failure as the outcome, and tells the sink where the site does. */
export function failed(frame: Frame, record: FailureRecord, event: boolean): number {
  const { toolCallId } = frame.call;
  const error: ToolError = {
    toolCallId,
    toolName: frame.entry?.name ?? frame.call.toolName,
    kind: record.kind as ToolErrorKind,
    message: record.message,
    ...(record.withCause ? { cause: frame.thrown } : {}),
    ...(record.hint === undefined || record.hint === null ? {} : { hint: record.hint }),
  };
  const recovery = {
    recoverable: record.recoverable,
    ...(record.recoveryHint ? { recoveryHint: record.recoveryHint as RecoveryHint } : {}),
  };
  frame.error = { ...error, ...recovery };
  if (!event) return 0;
  return emit(frame, {
    type: 'tool.execute.error',
    toolCallId,
    error: record.explicitRecovery ? { ...error, ...recovery } : error,
  });
}

/** Emits the start event, to the sink and to the span. */
export function started(frame: Frame): number {
  const code = emit(frame, { type: 'tool.execute.start', toolCallId: frame.call.toolCallId });
  if (code < 0) return code;
  return guarded(frame, 'span.addEvent', () => {
    frame.span?.addEvent('tool.execute.start');
    return 0;
  });
}

/** Emits the end event. */
export function ended(frame: Frame): number {
  const outcome = frame.outcome!;
  if ('kind' in outcome) return 0;
  return emit(frame, {
    type: 'tool.execute.end',
    toolCallId: frame.call.toolCallId,
    result: outcome.output,
    durationMs: outcome.durationMs,
  });
}

/** Waits, or until the run is aborted; leaves no listener. */
export function pause(frame: Frame, epoch: number, ms: number): number {
  release(frame);
  const signal = frame.runContext.signal as AbortSignal | undefined;
  let wake: () => void = () => {};
  // As in `open`: the wake has to run in this call's async context, whoever aborts.
  void new Promise<void>((resolve) => {
    wake = resolve;
  }).then(() => {
    globalThis.clearTimeout(timer);
    leave?.();
    settle(frame, epoch, 0);
  });
  const timer = globalThis.setTimeout(wake, Math.min(ms, LONGEST_WAIT_MS));
  let leave: (() => void) | undefined;
  if (signal?.aborted) wake();
  else if (signal) leave = onAbort(signal, wake);
  return -2;
}

/** A frozen copy of the call; the call itself where it cannot be copied. */
function frozenCall({ call }: Frame): ToolCall {
  try {
    // V8 freezes a copy made by `Object.assign` several times faster than a spread one, but that copy
    // would take a `__proto__` for its prototype.
    return Object.freeze(Object.hasOwn(call, '__proto__') ? { ...call } : Object.assign({}, call));
  } catch {
    return call;
  }
}

/** The record of a call, made once. */
function recordOf(frame: Frame): CompletedToolCall {
  frame.record ??= Object.freeze({
    call: frozenCall(frame),
    // An object of ours that nobody else has.
    outcome: Object.freeze((frame.error ?? frame.outcome)!),
    stepNumber: frame.stepNumber,
  });
  return frame.record;
}

/** Keeps what the model is told of a call that a thrown value has left. */
export function escaped(frame: Frame, message: string): number {
  frame.escape = message;
  return 0;
}

/** The record of a call whose pipeline was left by a thrown value (spec 02 section 9.6). */
export function escapedRecord(frame: Frame): CompletedToolCall {
  return Object.freeze({
    call: frozenCall(frame),
    outcome: Object.freeze({
      toolCallId: frame.call.toolCallId,
      toolName: frame.entry?.name ?? frame.call.toolName,
      kind: 'execution_failed',
      message: frame.escape ?? `tool execution rejected outside the executor pipeline: ${renderThrown(frame.thrown)}`,
      recoverable: false,
      recoveryHint: 'try_alternative',
    } satisfies ToolError),
    stepNumber: frame.stepNumber,
  });
}

/**
 * Ends a call: 0 succeeded, 1 failed, 2 escaped, 3 lost to a defect of ours. With a trust class its
 * result has still to be assembled.
 */
export function complete(frame: Frame, ending: number, shown: number, durationMs: number): number {
  release(frame);
  try {
    if (shown > 0) assemble(frame, durationMs, shown);
    if (ending === 3) threw(frame, 'ferrule', new Error('internal error in the native executor; please report it'));
    frame.record = ending >= 2 ? undefined : recordOf(frame);
    if (ending === 1 && frame.state.options.dataFlowGuard) recordFailure(frame);
  } catch (error) {
    // Parts of a result that throw when they are read. The batch has to hear of this call all the same.
    threw(frame, 'output', error);
    frame.record = undefined;
  }
  if (frame.idempotent) storeIdempotent(frame, (frame.record ?? escapedRecord(frame)).outcome);
  frame.run.done(frame);
  closeFrame(frame.slot);
  return 0;
}
