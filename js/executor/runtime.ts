/**
 * The table of host functions, and the one runtime of this realm that calls them.
 *
 * @internal
 */
import type { CallRuntime, HostOps } from '../../native/binding.js';
import { native, nativeRealm } from '../binding.js';
import type { SpanAttributes } from '../core/index.js';
import { bindFacts } from './facts.js';
import { frameAt, registers } from './frame.js';
import * as before from './host/before.js';
import * as dispatch from './host/dispatch.js';
import * as idempotency from './host/idempotency.js';
import * as report from './host/report.js';
import * as results from './host/results.js';
import { bindRuntime, onFrame } from './settle.js';

let runtime: CallRuntime | undefined;

/** The runtime; made at first use. */
export function callRuntime(): CallRuntime {
  if (runtime) return runtime;
  const ops: HostOps = {
    lookup: onFrame(before.lookup),
    runAborted: onFrame((frame) => (before.runAborted(frame) ? 1 : 0)),
    text: (slot, which) => results.textOf(frameAt(slot), which),
    number: onFrame((frame, which) => results.numberOf(frame, which)),
    held: (slot, which) => report.held(frameAt(slot), which),
    deniesName: onFrame(before.deniesName),
    audit: (slot, action, decision, metadata) => report.audit(frameAt(slot), action, decision, metadata ?? undefined),
    failed: (slot, record, event) => report.failed(frameAt(slot), record, event),
    escaped: (slot, message) => report.escaped(frameAt(slot), message),
    started: onFrame(report.started),
    ended: onFrame(report.ended),
    spanAttributes: (slot, attributes) => report.spanAttributes(frameAt(slot), attributes as SpanAttributes),
    spanFailed: (slot, cancelled, message) => report.spanFailed(frameAt(slot), cancelled, message),
    openSpan: onFrame(report.openSpan),
    closeSpan: onFrame(report.closeSpan),
    pause: onFrame(report.pause),
    validate: onFrame(before.validate),
    repair: onFrame(before.repair),
    permission: onFrame(before.permission),
    rewriteIsEcho: onFrame(before.rewriteIsEcho),
    rewrite: onFrame(before.rewrite),
    needsApproval: onFrame(before.needsApproval),
    approved: onFrame(before.approved),
    argumentPolicy: onFrame(before.argumentPolicy),
    inspectFlow: onFrame(before.inspectFlow),
    snapshot: onFrame(before.snapshot),
    idempotencyKey: onFrame(idempotency.idempotencyKey),
    idempotent: onFrame(idempotency.idempotent),
    sandbox: onFrame(dispatch.sandbox),
    enter: onFrame(dispatch.enter),
    startGrace: onFrame(dispatch.startGrace),
    abort: onFrame(dispatch.abort),
    giveUp: onFrame(dispatch.giveUp),
    close: onFrame(dispatch.close),
    pacing: onFrame(dispatch.pacing),
    verify: onFrame(results.verify),
    unpack: onFrame(results.unpack),
    outputFits: onFrame(results.outputFits),
    bound: onFrame(results.bound),
    sanitise: onFrame(results.sanitise),
    assemble: onFrame((frame, durationMs, shown) => {
      report.spanResult(frame);
      return results.assemble(frame, durationMs, shown);
    }),
    recordFlow: onFrame(results.recordFlow),
    complete: onFrame(report.complete),
  };
  runtime = new (native().CallRuntime)(nativeRealm(), ops, registers, () => runtime?.poke());
  bindRuntime(runtime);
  bindFacts(runtime);
  return runtime;
}
