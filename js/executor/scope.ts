/**
 * What a callback of a tool runs in: its secrets scope, a signal linked to the run's, a streaming
 * channel and the context that shows them.
 *
 * @internal
 */
import { withChildToolSecretsContext } from '../secrets/context.js';
import type { ToolSecretsOwner } from '../secrets/context.js';
import { createStreamingChannel } from '../streaming/index.js';
import type { StreamingChannel } from '../streaming/index.js';
import { joinAbort, leaveAbort } from './abort.js';
import type { Waiter } from './abort.js';
import { contextOf } from './context.js';
import type { Frame } from './frame.js';
import type { ToolExecutionContext } from '../core/index.js';

const NO_SECRETS: readonly string[] = Object.freeze([]);

/** The secrets a tool may read, and who asks. */
function ownerOf(frame: Frame): ToolSecretsOwner {
  const { runId, sessionId, agentId } = frame.runContext;
  return { toolName: frame.tool.name, runId, sessionId, agentId, secretsAllowed: frame.tool.secretsAllowed ?? NO_SECRETS };
}

/** Runs a callback of the tool in the tool's secrets scope. */
export function inScope<T>(frame: Frame, act: () => T): T {
  frame.owner ??= ownerOf(frame);
  return withChildToolSecretsContext(frame.owner, act);
}

function channelFor(frame: Frame): StreamingChannel | undefined {
  const { options } = frame.state;
  if (frame.tool.__streamingHint !== true) return undefined;
  return createStreamingChannel({
    toolName: frame.tool.name,
    toolCallId: frame.call.toolCallId,
    stepNumber: frame.stepNumber,
    streamingHint: true,
    ...(options.streamingEventQueueDepth === undefined
      ? {}
      : { eventQueueDepth: options.streamingEventQueueDepth }),
    ...(options.streamingMaxBufferBytes === undefined
      ? {}
      : { maxBufferBytes: options.streamingMaxBufferBytes }),
    ...(options.streamingSink ? { sink: options.streamingSink } : {}),
  });
}

/** Signal, channel and context of one evaluation; closed when it ends. */
export class CallScope implements Waiter {
  /** The signal is aborted. Asked of the signal itself, it would have to be made. */
  aborted = false;
  readonly #controller = new AbortController();
  /** Only of a tool that streams. */
  readonly channel: StreamingChannel | undefined;
  readonly ctx: ToolExecutionContext;
  readonly #frame: Frame;
  readonly #wake: ((frame: Frame) => void) | undefined;

  /** `wake` is called when the run is aborted, after the signal. */
  constructor(frame: Frame, wake?: (frame: Frame) => void) {
    this.#frame = frame;
    this.#wake = wake;
    const signal = frame.runContext.signal as AbortSignal | undefined;
    if (signal?.aborted) this.abort();
    else if (signal) joinAbort(signal, this);
    this.channel = channelFor(frame);
    frame.owner ??= ownerOf(frame);
    this.ctx = contextOf(frame, this, frame.owner);
  }

  /** Made when it is first read: an `AbortSignal` costs a quarter of a call, and few tools look at it. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts the signal. */
  abort(): void {
    this.aborted = true;
    this.#controller.abort();
  }

  runAborted(): void {
    this.abort();
    this.#wake?.(this.#frame);
  }

  /** Closes the channel and leaves the run's signal; may be called again. */
  close(): void {
    this.channel?.abort('finished');
    const signal = this.#frame.runContext.signal as AbortSignal | undefined;
    if (signal) leaveAbort(signal, this);
  }
}
