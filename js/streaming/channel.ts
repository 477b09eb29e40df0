import { native, nativeRealm } from '../binding.js';
import type { ContentChunk, ToolExecuteEvent } from '../core/index.js';

/** Size of a channel's buffer unless set otherwise: 8 MiB. */
export const DEFAULT_MAX_BUFFER_BYTES = 8_388_608;

const DEFAULT_QUEUE_DEPTH = 256;

/** What a channel delivers. */
export type StreamingEvent = Extract<
  ToolExecuteEvent,
  { readonly type: 'tool.execute.progress' | 'tool.execute.partial' }
>;

/** What was streamed so far. Frozen. */
export interface StreamingAggregator {
  /** The buffered chunks, by reference, in order. */
  readonly chunks: ReadonlyArray<ContentChunk>;
  /** How many chunks are buffered; those that did not fit are not counted. */
  readonly chunkCount: number;
  /** How often progress was delivered. */
  readonly progressEventCount: number;
  /** Size of the buffered chunks. */
  readonly totalBytes: number;
  /** A chunk did not fit the buffer. */
  readonly bufferTruncated: boolean;
}

/** The channel of one call. */
export interface StreamingChannel {
  /** Delivers a progress event before it returns. What the sink throws comes out here. */
  reportProgress(current: number, total?: number, message?: string): void;
  /** Delivers a chunk before it returns, and buffers it. What the sink throws comes out here. */
  streamContent(chunk: ContentChunk): void;
  /** Closes the channel; the first reason wins, later calls do nothing. */
  abort(reason: 'cancelled' | 'finished'): void;
  /** The state now; may be asked for at any time. */
  snapshot(): StreamingAggregator;
}

/** The options of `createStreamingChannel`. */
export interface StreamingChannelOptions {
  /** Name of the tool. */
  readonly toolName: string;
  /** Id of the call, as the model gave it. */
  readonly toolCallId: string;
  /** Number of the step within the run. */
  readonly stepNumber: number;
  /** Nesting depth at which events of a re-entrant sink are dropped. Default 256. */
  readonly eventQueueDepth?: number;
  /** Size of the buffer; chunks beyond it are delivered but not kept. Default 8388608. */
  readonly maxBufferBytes?: number;
  /** False makes the channel deaf. Default true. */
  readonly streamingHint?: boolean;
  /** Hears each event, there and then. */
  readonly sink?: (event: StreamingEvent) => void;
  /** Clock in milliseconds. Default the wall clock. */
  readonly now?: () => number;
}

const KIND_INDEX = { text: 0, 'json-delta': 1, image: 2 } as const;

/** Callers without types may hand over anything; a chunk of no known shape is named before it counts. */
function checkChunk(chunk: unknown): void {
  const { kind, text, path, data } = (chunk ?? {}) as Readonly<Record<string, unknown>>;
  if (kind === 'text' && typeof text === 'string') return;
  if (kind === 'json-delta' && typeof path === 'string') return;
  if (kind === 'image' && typeof (data as { byteLength?: unknown } | undefined)?.byteLength === 'number') return;
  const got = typeof kind === 'string' ? `kind '${kind}' without what belongs to it, or unknown` : 'no kind';
  throw new TypeError(
    `streamContent: a chunk is { kind: 'text', text }, { kind: 'json-delta', path, value } or { kind: 'image', data, mediaType } (got ${got}).`,
  );
}

/** The size of a chunk in the unit of its kind (spec 02 section 10.6). */
function chunkSize(chunk: ContentChunk): number {
  switch (chunk.kind) {
    case 'text':
      return chunk.text.length;
    case 'image':
      return chunk.data.byteLength;
    case 'json-delta': {
      let json: string | undefined;
      try {
        json = JSON.stringify(chunk.value);
      } catch {
        // What has no JSON text counts by its path alone.
      }
      return (json?.length ?? 0) + chunk.path.length;
    }
  }
}

const NOTHING: StreamingAggregator = Object.freeze({
  chunks: Object.freeze([]),
  chunkCount: 0,
  progressEventCount: 0,
  totalBytes: 0,
  bufferTruncated: false,
});

/** The channel of a tool that does not stream: it hears nothing and costs nothing. */
function deafChannel(toolName: string): StreamingChannel {
  let closed = false;
  return {
    reportProgress: () => {},
    streamContent: () => {},
    abort(reason) {
      if (closed) return;
      closed = true;
      if (reason === 'cancelled') {
        const key = `tool.streaming.events.dropped.total{reason=cancelled,toolName=${toolName}}`;
        nativeRealm().increment(key, 1);
      }
    },
    snapshot: () => NOTHING,
  };
}

/**
 * Makes a channel. Delivery is synchronous and in call order; nothing is queued.
 *
 * @example
 * const channel = createStreamingChannel({ toolName: 't', toolCallId: 'c1', stepNumber: 1, sink: console.log });
 * channel.streamContent({ kind: 'text', text: 'hello' });
 * channel.abort('finished');
 * channel.snapshot().chunkCount; // 1
 */
export function createStreamingChannel(opts: StreamingChannelOptions): StreamingChannel {
  const { toolName, toolCallId, stepNumber, sink } = opts;
  // Looked up at each use, so that a clock that is faked later on governs too.
  const now = opts.now ?? (() => Date.now());
  if (opts.streamingHint === false) return deafChannel(toolName);

  const state = new (native().StreamState)(
    nativeRealm(),
    toolName,
    opts.eventQueueDepth ?? DEFAULT_QUEUE_DEPTH,
    opts.maxBufferBytes ?? DEFAULT_MAX_BUFFER_BYTES,
    now(),
  );
  const chunks: ContentChunk[] = [];
  let closed = false;

  const deliver = (event: StreamingEvent): void => {
    let heard = false;
    try {
      if (sink) {
        sink(event);
        heard = true;
      }
    } finally {
      state.delivered(heard);
    }
  };
  /** The clock, read only when the first event is marked. */
  const mark = (): number => (state.untouched() ? now() : 0);

  return {
    reportProgress(current, total, message) {
      if (closed || !state.progress(state.tooDeep() ? 0 : mark())) return;
      deliver({
        type: 'tool.execute.progress',
        toolName,
        toolCallId,
        current,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
        stepNumber,
        ts: now(),
      });
    },
    streamContent(chunk) {
      if (closed) return;
      checkChunk(chunk);
      const offer = state.content(KIND_INDEX[chunk.kind], chunkSize(chunk), mark());
      if (offer & 1) chunks.push(chunk);
      const chunkIndex = offer >> 1;
      if (chunkIndex < 0) return;
      deliver({ type: 'tool.execute.partial', toolName, toolCallId, chunk, chunkIndex, stepNumber, ts: now() });
    },
    abort(reason) {
      if (closed) return;
      closed = true;
      state.close(reason === 'cancelled', now());
    },
    snapshot() {
      return Object.freeze({ chunks: Object.freeze([...chunks]), ...state.counts() });
    },
  };
}
