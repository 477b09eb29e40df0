/**
 * The host's side of the phases before the tool runs: look-up, validation, permission, approval,
 * policies, context, snapshot, idempotency.
 *
 * @internal
 */
import type { ResolvedTool } from '../../core/index.js';
import { createStreamingChannel } from '../../streaming/index.js';
import type { StreamingChannel } from '../../streaming/index.js';
import { withChildToolSecretsContext } from '../../secrets/context.js';
import { onAbort } from '../abort.js';
import { isBrokenJson, otherReading, parseWith } from '../args.js';
import type { Parsed } from '../args.js';
import { contextFor } from '../context.js';
import type { SecretsOwner } from '../context.js';
import { packFacts } from '../facts.js';
import { PENDING } from '../frame.js';
import type { Frame } from '../frame.js';
import { awaited, guarded, settle } from '../settle.js';
import type { MemoryModificationGuard, PermissionHookResult } from '../types.js';

/** Keeps an entry and hands its facts to the native side. */
export function describe(
  frame: Frame,
  entry: ResolvedTool,
  tell: (slot: number, bits: number, cap: number, name: string) => void,
): void {
  frame.entry = entry;
  const facts = packFacts(entry);
  tell(frame.slot, facts.bits, facts.maxResultTokens, entry.name);
}

/** Asks `deniesName`. */
export function deniesName(frame: Frame): number {
  return guarded(frame, 'argumentPolicy.deniesName', () => {
    const answer = frame.state.options.argumentPolicy!.deniesName!(frame.call.toolName);
    if (!answer.denied) return 0;
    frame.reason = answer.reason;
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
  const { args } = frame.call;
  const schema = frame.tool.inputSchema;
  frame.effective = args;
  const code = awaited(
    frame,
    epoch,
    'inputSchema',
    () => {
      const first = parseWith(schema, args);
      if (first instanceof Promise) return first.then((parsed) => reread(frame, parsed));
      return reread(frame, first);
    },
    (answer) => answer,
  );
  // One microtask on, so that the caller has its promise before the tool is entered.
  if (code !== PENDING) void Promise.resolve().then(() => settle(frame, epoch, code));
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

/** The secrets a tool may read, and who asks. */
function ownerOf(frame: Frame): SecretsOwner {
  const { runId, sessionId, agentId } = frame.runContext;
  return {
    toolName: frame.tool.name,
    ...(runId === undefined ? {} : { runId }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(agentId === undefined ? {} : { agentId }),
    secretsAllowed: frame.tool.secretsAllowed ?? [],
  };
}

/** Runs a callback of the tool in the tool's secrets scope. */
export function inScope<T>(frame: Frame, act: () => T): T {
  frame.owner ??= ownerOf(frame);
  return withChildToolSecretsContext(frame.owner, act);
}

function makeChannel(frame: Frame): StreamingChannel {
  const { options } = frame.state;
  return createStreamingChannel({
    toolName: frame.tool.name,
    toolCallId: frame.call.toolCallId,
    stepNumber: frame.stepNumber,
    streamingHint: frame.tool.__streamingHint === true,
    ...(options.streamingEventQueueDepth === undefined
      ? {}
      : { eventQueueDepth: options.streamingEventQueueDepth }),
    ...(options.streamingMaxBufferBytes === undefined
      ? {}
      : { maxBufferBytes: options.streamingMaxBufferBytes }),
    ...(options.streamingSink ? { sink: options.streamingSink } : {}),
  });
}

interface CallScope {
  readonly controller: AbortController;
  readonly channel: StreamingChannel;
  readonly ctx: ReturnType<typeof contextFor>;
  readonly detach: () => void;
}

/** A signal linked to the run's, a channel and a context. `wake` is called when the run is cancelled. */
function makeScope(frame: Frame, wake: () => void): CallScope {
  const controller = new AbortController();
  const signal = frame.runContext.signal as AbortSignal | undefined;
  let detach = (): void => {};
  if (signal?.aborted) {
    controller.abort();
  } else if (signal) {
    detach = onAbort(signal, () => {
      controller.abort();
      wake();
    });
  }
  const channel = makeChannel(frame);
  frame.owner ??= ownerOf(frame);
  const { secretResolver } = frame.state.options;
  const ctx = contextFor(
    {
      tool: frame.tool,
      toolCallId: frame.call.toolCallId,
      runContext: frame.runContext,
      signal: controller.signal,
      streamingChannel: channel,
      ...(secretResolver ? { secretResolver } : {}),
    },
    frame.owner,
  );
  return { controller, channel, ctx, detach };
}

/** Evaluates the approval predicate in a context of its own, closed again whatever happens. */
export function needsApproval(frame: Frame, epoch: number): number {
  const scope = makeScope(frame, () => {});
  const release = (): void => {
    frame.releasePredicate = undefined;
    scope.channel.abort('finished');
    scope.detach();
  };
  frame.releasePredicate = release;
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
      if (decision.granted) return 1;
      frame.reason = decision.reason;
      return 0;
    },
  );
}

const EFFECTS = ['allow', 'deny', 'ask', 'defer'];

/** Asks the argument policy. A promise is no decision: it fails closed. */
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
    const effect = EFFECTS.indexOf(verdict.effect);
    if (effect === 0) return 0;
    const { reason } = verdict as { reason?: string };
    frame.reason = reason ?? 'the policy answered with no decision';
    return effect < 0 ? 1 : effect;
  });
}

const VERDICTS = ['allow', 'flag', 'declassify', 'block'];

/** Asks the data-flow guard. A verdict nobody knows blocks. */
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
    const action = VERDICTS.indexOf(verdict.action);
    if (action === 0) return 0;
    const found = verdict as { flow?: string; reason?: string; sourceKinds?: ReadonlyArray<string> };
    frame.flow = found.flow ?? 'unknown';
    frame.reason = found.reason ?? 'the data-flow guard answered with no verdict';
    frame.sourceKinds = found.sourceKinds ?? [];
    return action < 0 ? 3 : action;
  });
}

/** Opens what the tool runs in. */
export function open(frame: Frame): number {
  // The wake goes through a promise made here, so that it runs in this call's async context and not
  // in that of whoever aborts.
  let wake: () => void = () => {};
  void new Promise<void>((resolve) => {
    wake = resolve;
  }).then(() => settle(frame, frame.dispatchEpoch, 3));
  const scope = makeScope(frame, wake);
  frame.controller = scope.controller;
  frame.channel = scope.channel;
  frame.ctx = scope.ctx;
  frame.detach = scope.detach;
  return 0;
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
