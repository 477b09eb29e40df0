import type { Sensitivity, SpanStatus } from './types.js';

/** The value of a span attribute. */
export type SpanAttributeValue =
  | string
  | number
  | boolean
  | null
  | readonly string[]
  | readonly number[]
  | readonly boolean[];
/** Attributes of a span or event. */
export type SpanAttributes = Readonly<Record<string, SpanAttributeValue>>;

/** The kinds of span; own kinds start with `x.`. */
export type SpanType =
  | 'agent.run'
  | 'agent.step'
  | 'agent.handoff'
  | 'provider.generate'
  | 'tool.execute'
  | 'tool.approval'
  | 'memory.read'
  | 'memory.write'
  | 'session.run'
  | `x.${string}`;

/** One span. */
export interface AISpan<T extends SpanType = SpanType> {
  /** Kind of span. */
  readonly type: T;
  /** Id of this span; empty when nothing records it. */
  readonly id: string;
  /** Id of the trace it belongs to. */
  readonly traceId: string;
  /** Id of the span around it. */
  readonly parentId?: string;
  /** Adds attributes; a later value of a key wins. */
  setAttributes(attrs: SpanAttributes): void;
  /** Adds an event at this moment, with how confidential it is. */
  addEvent(
    name: string,
    attrs?: SpanAttributes,
    opts?: {
      readonly sensitivity?: Sensitivity;
      readonly sensitivityByAttribute?: Readonly<Record<string, Sensitivity>>;
    },
  ): void;
  /** Adds an error. */
  recordException(err: unknown): void;
  /** Says how it went. */
  setStatus(status: SpanStatus, message?: string): void;
  /** Ends the span. */
  end(): void;
}
/** How a span is opened. */
export interface SpanOptions<T extends SpanType = SpanType> {
  /** Kind of span. */
  readonly type: T;
  /** Attributes it starts with. */
  readonly attrs?: SpanAttributes;
  /** The span around it. Absent: the tracer decides. */
  readonly parent?: AISpan;
}
/** Opens spans. Recognised by shape. */
export interface Tracer {
  /** Opens a span that the caller ends. */
  startSpan<T extends SpanType>(opts: SpanOptions<T>): AISpan<T>;
  /** Runs a function inside a span, which ends with it. */
  span<T extends SpanType, R>(opts: SpanOptions<T>, fn: (span: AISpan<T>) => R | Promise<R>): Promise<R>;
  /** Sends what is still waiting. */
  shutdown(): Promise<void>;
}
/** Writes log lines. */
export interface Logger {
  /** Writes a line of level `trace`. */
  trace(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Writes a line of level `debug`. */
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Writes a line of level `info`. */
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Writes a line of level `warn`. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Writes a line of level `error`. */
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** A logger that adds these fields to each line. */
  child(fields: Readonly<Record<string, unknown>>): Logger;
}

const noop = (): void => undefined;

function inertSpan<T extends SpanType>(type: T): AISpan<T> {
  return {
    type,
    id: '',
    traceId: '',
    setAttributes: noop,
    addEvent: noop,
    recordException: noop,
    setStatus: noop,
    end: noop,
  };
}

/**
 * A tracer that records nothing: `span` runs its function and ends the inert span, whatever happens.
 * It asks its own object for that span, so `{ ...NOOP_TRACER, startSpan: mine }` is a tracer that opens yours.
 */
export const NOOP_TRACER: Tracer = {
  startSpan: (opts) => inertSpan(opts.type),
  async span(this: Partial<Tracer> | undefined, opts, fn) {
    const span = this?.startSpan?.(opts) ?? inertSpan(opts.type);
    try {
      return await fn(span);
    } finally {
      span.end();
    }
  },
  shutdown: async () => undefined,
};

/** A logger that writes nothing; `child` returns the same object. */
export const NOOP_LOGGER: Logger = {
  trace: noop,
  debug: noop,
  info: noop,
  warn: noop,
  error: noop,
  child: () => NOOP_LOGGER,
};
