/**
 * Callbacks whose answer nobody waits for: sinks, auditors, recorders, and those that have to answer at
 * once. When an app hands over an async function all the same, its failure is reported like a thrown
 * one, and is no unhandled rejection, which would end the process.
 *
 * @internal
 */
import { emitToolAudit, hasAuditListeners } from '../../audit/bus.js';
import { incrementCounter } from '../../audit/index.js';
import type { ToolAuditEvent } from '../../audit/index.js';
import { shownName } from '../../errors/describe.js';
import type { Frame } from '../frame.js';
import { isThenable } from '../settle.js';
import { renderThrown } from '../thrown.js';

/** A row about a call, as it is now. */
export function rowOf(frame: Frame, action: string, decision: string, metadata: object | undefined): ToolAuditEvent {
  const toolName = frame.entry?.name ?? frame.call.toolName;
  return {
    action: action as ToolAuditEvent['action'],
    actor: { kind: 'tool', id: toolName },
    target: toolName,
    decision: decision as ToolAuditEvent['decision'],
    ts: Date.now(),
    context: {
      runId: frame.runContext.runId,
      stepNumber: frame.stepNumber,
      toolCallId: frame.call.toolCallId,
    },
    ...(metadata ? { metadata: metadata as Record<string, unknown> } : {}),
  };
}

/** Takes what a callback returned, and reports it under the callback's name if it is a promise that fails. */
export function unawaited(frame: Frame, callback: string, returned: unknown): void {
  if (isThenable(returned)) Promise.resolve(returned).catch(reporter(frame, callback));
}

/** Reports what a callback threw where the call goes on regardless. */
export function reported(frame: Frame, callback: string, error: unknown): void {
  reporter(frame, callback)(error);
}

function reporter(frame: Frame, callback: string): (error: unknown) => void {
  const { emitAudit } = frame.state.options;
  // The frame may serve another call by the time something fails.
  const row = rowOf(frame, 'tool:execute:error', 'error', undefined);
  return (error) => {
    incrementCounter('tool.executor.callback-failed.total', { callback, toolName: shownName(row.target) });
    // Nothing is left to tell that the auditor itself failed.
    if (callback === 'emitAudit' || !(emitAudit || hasAuditListeners())) return;
    const told = { ...row, ts: Date.now(), metadata: { kind: 'callback-failed', callback, message: renderThrown(error) } };
    try {
      const answer: unknown = (emitAudit ?? emitToolAudit)(told);
      if (isThenable(answer)) Promise.resolve(answer).catch(() => {});
    } catch {
      // As above.
    }
  };
}
