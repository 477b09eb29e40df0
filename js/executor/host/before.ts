/**
 * The host's side of the phases before the tool runs: look-up, validation, permission, approval,
 * policies, context, snapshot, idempotency.
 *
 * @internal
 */
import { NOOP_TRACER } from '../../core/index.js';
import type { ResolvedTool } from '../../core/index.js';
import { isBrokenJson, otherReading, parseWith } from '../args.js';
import type { Parsed } from '../args.js';
import { describe } from '../facts.js';
import { PENDING, registers } from '../frame.js';
import type { Frame } from '../frame.js';
import { CallScope, inScope } from '../scope.js';
import { awaited, guarded, isThenable, settleSoon, threw } from '../settle.js';
import type { DataFlowVerdict, MemoryModificationGuard, PermissionHookResult } from '../types.js';
import { forgetAttempt } from './dispatch.js';
import { unawaited } from './unawaited.js';

/** Whether the run's signal is aborted now. */
export function runAborted(frame: Frame): boolean {
  return (frame.runContext.signal as AbortSignal | undefined)?.aborted === true;
}

const { span: inertSpan, startSpan: inertStart } = NOOP_TRACER;

/** Whether a tracer need not be asked: one that records nothing, unless a spy listens, or one that a caller without types left out. */
function isSilent(tracer: unknown): boolean {
  if (tracer === undefined || tracer === null) return true;
  return tracer === NOOP_TRACER && NOOP_TRACER.span === inertSpan && NOOP_TRACER.startSpan === inertStart;
}

const NO_DECISION = 'the policy answered with no decision';

const UNKNOWN = 0;
const RUN_ABORTED = 1;

/**
 * Looks the tool up, unless the caller has just done so, and says which it is. A call that was
 * queued on a run that has been aborted since is not looked up any more.
 */
export function lookup(frame: Frame, queued: number): number {
  frame.queued = queued === 1;
  let code = frame.described;
  if (queued && runAborted(frame)) {
    code = RUN_ABORTED;
  } else if (code === 0) {
    try {
      code = describeEntry(frame, frame.state.options.registry.get(frame.call.toolName) as ResolvedTool | undefined);
    } catch (error) {
      return threw(frame, 'registry.get', error);
    }
  }
  const tracer: unknown = frame.runContext.tracer;
  registers[1] = isSilent(tracer) ? 0 : 1;
  return code;
}

/** Keeps what a look-up found. */
export function describeEntry(frame: Frame, entry: ResolvedTool | undefined): number {
  if (!entry) return UNKNOWN;
  frame.entry = entry;
  frame.described = describe(frame.slot, entry);
  return frame.described;
}

/** Asks `deniesName`. Anything but a plain no (spec 02 section 7.2) denies, a promise among them. */
export function deniesName(frame: Frame): number {
  return guarded(frame, 'argumentPolicy.deniesName', () => {
    const answer = frame.state.options.argumentPolicy!.deniesName!(frame.call.toolName);
    if (answer.denied === false) return 0;
    frame.reason = answer.denied === true ? answer.reason : NO_DECISION;
    if (answer.denied !== true) unawaited(frame, 'argumentPolicy.deniesName', answer);
    return 1;
  });
}

function keepError(frame: Frame, parsed: Extract<Parsed, { success: false }>): number {
  frame.schemaError = parsed.error;
  frame.schemaMessage = String(parsed.error.message);
  return 0;
}

function keepInput(frame: Frame, data: unknown, effective: unknown): number {
  frame.validated = data;
  frame.effective = effective;
  return 1;
}

/** Validates the model's arguments; where they do not fit, their other reading. */
export function validate(frame: Frame, epoch: number): number {
  if (frame.attempted) forgetAttempt(frame);
  frame.attempted = true;
  const { args } = frame.call;
  frame.effective = args;
  let answer: number | Promise<number>;
  try {
    const first = parseWith(frame.tool.inputSchema, args);
    answer = isThenable(first) ? first.then((parsed) => reread(frame, parsed)) : reread(frame, first);
  } catch (error) {
    answer = threw(frame, 'inputSchema', error);
  }
  if (typeof answer !== 'number') {
    const pending = answer;
    return awaited(frame, epoch, 'inputSchema', () => pending, (code) => code);
  }
  // The caller has had its promise for long.
  if (frame.queued) return answer;
  // One microtask on, so that the caller has its promise before the tool is entered.
  settleSoon(frame, epoch, answer);
  return PENDING;
}

function reread(frame: Frame, first: Parsed): number | Promise<number> {
  const { args } = frame.call;
  if (first.success) return keepInput(frame, first.data, args);
  const other = otherReading(args);
  if (!other) {
    keepError(frame, first);
    if (isBrokenJson(args)) {
      frame.schemaMessage += ' (the arguments are not complete JSON; send the whole object again)';
    }
    return 0;
  }
  const take = (second: Parsed): number =>
    second.success
      ? keepInput(frame, second.data, other.value)
      : keepError(frame, typeof args === 'string' && args.trim() !== '' ? second : first);
  const second = parseWith(frame.tool.inputSchema, other.value);
  return second instanceof Promise ? second.then(take) : take(second);
}

/** Asks the repair hook once, and validates what it gives. */
export function repair(frame: Frame, epoch: number): number {
  return awaited(
    frame,
    epoch,
    'repair',
    async () => {
      const repaired = await frame.state.options.repair!.repair({
        toolName: frame.call.toolName,
        invalidArgs: frame.call.args,
        schemaError: frame.schemaError,
        signal: frame.runContext.signal,
      });
      if (repaired === null) return 0;
      const parsed = await parseWith(frame.tool.inputSchema, repaired);
      if (parsed.success) return keepInput(frame, parsed.data, repaired);
      keepError(frame, parsed);
      return 2;
    },
    (code) => code,
  );
}

const DECISIONS = ['allow', 'deny', 'ask', 'defer'];

/** Asks the permission hook. */
export function permission(frame: Frame, epoch: number): number {
  const { tool, call, runContext } = frame;
  frame.reason = undefined;
  return awaited<PermissionHookResult | undefined>(
    frame,
    epoch,
    'permissionHook',
    () => {
      const hook = frame.state.options.permissionHook!;
      return hook({
        call,
        validatedInput: frame.validated,
        toolName: tool.name,
        sideEffectClass: tool.__sideEffectClass,
        trustClass: tool.__trustClass,
        ...(tool.sensitivity === undefined ? {} : { sensitivity: tool.sensitivity }),
        runContext,
      });
    },
    (answer) => {
      if (answer === null || typeof answer !== 'object') return 4;
      frame.reason = answer.reason;
      frame.updatedInput = answer.updatedInput;
      const decision = DECISIONS.indexOf(answer.decision);
      return (decision < 0 ? 4 : decision) | (answer.updatedInput === undefined ? 0 : 8);
    },
  );
}

/** Whether the hook gave back the very arguments there are. */
export function rewriteIsEcho(frame: Frame): number {
  return guarded(frame, 'permissionHook', () =>
    JSON.stringify(frame.updatedInput) === JSON.stringify(frame.effective) ? 1 : 0,
  );
}

/** Validates `updatedInput`. */
export function rewrite(frame: Frame, epoch: number): number {
  return awaited(
    frame,
    epoch,
    'inputSchema',
    () => parseWith(frame.tool.inputSchema, frame.updatedInput),
    (parsed) =>
      parsed.success ? keepInput(frame, parsed.data, frame.updatedInput) : keepError(frame, parsed),
  );
}

/** Evaluates the approval predicate in a context of its own, closed again whatever happens. */
export function needsApproval(frame: Frame, epoch: number): number {
  const scope = new CallScope(frame);
  const release = (): void => {
    frame.predicate = undefined;
    scope.close();
  };
  frame.predicate = scope;
  const input = frame.validated ?? frame.call.args;
  const { tool } = frame;
  return awaited(
    frame,
    epoch,
    'needsApproval',
    () => {
      let answer: unknown;
      try {
        answer = inScope(frame, () =>
          (tool.needsApproval as (input: unknown, ctx: unknown) => unknown).call(tool, input, scope.ctx),
        );
      } catch (error) {
        release();
        throw error;
      }
      if (!(answer instanceof Object) || typeof (answer as { then?: unknown }).then !== 'function') {
        release();
        return answer;
      }
      return Promise.resolve(answer).finally(release);
    },
    (needed) => (needed ? 1 : 0),
  );
}

/** Asks the gate. */
export function approved(frame: Frame, epoch: number): number {
  const { call, tool } = frame;
  frame.reason = undefined;
  return awaited(
    frame,
    epoch,
    'approvalGate.request',
    () =>
      frame.state.options.approvalGate!.request(call, {
        toolCallId: call.toolCallId,
        toolName: tool.name,
        args: frame.effective,
        requestedAt: new Date().toISOString(),
      }),
    (decision) => {
      if (decision === null || decision === undefined) {
        frame.reason = 'no-approval-gate-configured';
        return 0;
      }
      // Any other value that counts as true may be a "no" in words.
      if (decision.granted === true) return 1;
      frame.reason = decision.reason;
      return 0;
    },
  );
}

const EFFECTS = ['allow', 'deny', 'ask', 'defer'];

/** Asks the argument policy. A promise is no decision, and neither is nothing at all: both fail closed. */
export function argumentPolicy(frame: Frame): number {
  const policy = frame.state.options.argumentPolicy!;
  const { tool } = frame;
  const facts = {
    toolName: tool.name,
    sideEffectClass: tool.__sideEffectClass,
    sensitive: tool.sensitivity === 'secret',
    trustClass: tool.__trustClass,
    args: frame.validated,
  };
  frame.reason = undefined;
  return guarded(frame, typeof policy.decide === 'function' ? 'argumentPolicy.decide' : 'argumentPolicy.evaluate', () => {
    const verdict = typeof policy.decide === 'function' ? policy.decide(facts) : policy.evaluate(facts);
    const { effect: word, reason } = (verdict ?? {}) as { effect?: string; reason?: string };
    const effect = EFFECTS.indexOf(word ?? '');
    if (effect === 0) return 0;
    frame.reason = reason ?? NO_DECISION;
    if (effect < 0) unawaited(frame, typeof policy.decide === 'function' ? 'argumentPolicy.decide' : 'argumentPolicy.evaluate', verdict);
    return effect < 0 ? 1 : effect;
  });
}

const VERDICTS = ['allow', 'flag', 'declassify', 'block'];

/** Asks the data-flow guard. A verdict nobody knows blocks, and so does none. */
export function inspectFlow(frame: Frame): number {
  const { tool } = frame;
  return guarded(frame, 'dataFlowGuard.inspect', () => {
    const verdict = frame.state.options.dataFlowGuard!.inspect({
      toolName: tool.name,
      sideEffectClass: tool.__sideEffectClass,
      trustClass: tool.__trustClass,
      ...(tool.sensitivity === undefined ? {} : { sensitivity: tool.sensitivity }),
      source: tool.__source,
      args: frame.effective,
      runContext: frame.runContext,
    });
    type Found = { action?: string; flow?: string; reason?: string; sourceKinds?: ReadonlyArray<string> };
    const found = ((verdict as DataFlowVerdict | undefined) ?? {}) as Found;
    const action = VERDICTS.indexOf(found.action ?? '');
    if (action === 0) return 0;
    frame.flow = found.flow ?? 'unknown';
    frame.reason = found.reason ?? 'the data-flow guard answered with no verdict';
    frame.sourceKinds = found.sourceKinds ?? [];
    if (action < 0) unawaited(frame, 'dataFlowGuard.inspect', verdict);
    return action < 0 ? 3 : action;
  });
}

/** Takes the memory snapshot. */
export function snapshot(frame: Frame, epoch: number): number {
  const { options } = frame.state;
  frame.guard = undefined;
  frame.before = undefined;
  const made = guarded(frame, 'memoryGuardFactory', () => {
    frame.guard = options.memoryGuardFactory!(frame.tool.memoryGuardTier ?? 'unknown') ?? undefined;
    return 0;
  });
  const reader = options.memoryRegionReader;
  const guard = frame.guard as MemoryModificationGuard | undefined;
  if (made < 0 || !guard || !reader) return made;
  return awaited(
    frame,
    epoch,
    'memoryGuard.snapshot',
    () => guard.snapshot(reader),
    (before) => {
      frame.before = before;
      return 1;
    },
  );
}
