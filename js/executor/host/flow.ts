/**
 * What the data-flow guard is told of text that reaches the model beside fresh results: the message of
 * a failure of an untrusted tool, and a result taken over from an earlier call. The words are a
 * stranger's all the same, and a guard that did not hear of them would let them into a sink.
 *
 * @internal
 */
import type { ToolErrorKind } from '../../core/index.js';
import { isUntrustedProducer } from '../../result/taint.js';
import { renderText } from '../../result/text.js';
import type { Frame } from '../frame.js';
import { reported, unawaited } from './unawaited.js';

/** The failures of a tool that ran whose message is the tool's own, or that of the schema it came with. */
const FOREIGN: ReadonlySet<ToolErrorKind> = new Set(['execution_failed', 'rate_limited', 'sandbox_violation', 'invalid_output']);

function record(frame: Frame, outputText: string): void {
  const { tool } = frame;
  try {
    const returned: unknown = frame.state.options.dataFlowGuard?.record({
      toolName: tool.name,
      trustClass: tool.__trustClass,
      ...(tool.sensitivity === undefined ? {} : { sensitivity: tool.sensitivity }),
      source: tool.__source,
      outputText,
      runContext: frame.runContext,
    });
    unawaited(frame, 'dataFlowGuard.record', returned);
  } catch (error) {
    reported(frame, 'dataFlowGuard.record', error);
  }
}

/** A call has failed for good. */
export function recordFailure(frame: Frame): void {
  const { error } = frame;
  if (!error || !(frame.ran || frame.joined) || !FOREIGN.has(error.kind)) return;
  if (isUntrustedProducer(frame.tool.__trustClass)) record(frame, error.message);
}

/** A result was taken over: from a store, or from the call this one joined, which may be another run's. */
export function recordReplay(frame: Frame, output: unknown): void {
  if (frame.state.options.dataFlowGuard) record(frame, typeof output === 'string' ? output : renderText(output));
}
