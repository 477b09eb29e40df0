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
  readonly type: T;
  readonly id: string;
  readonly traceId: string;
  readonly parentId?: string;
  setAttributes(attrs: SpanAttributes): void;
  addEvent(
    name: string,
    attrs?: SpanAttributes,
    opts?: {
      readonly sensitivity?: Sensitivity;
      readonly sensitivityByAttribute?: Readonly<Record<string, Sensitivity>>;
    },
  ): void;
  recordException(err: unknown): void;
  setStatus(status: SpanStatus, message?: string): void;
  end(): void;
}
/** How a span is opened. */
export interface SpanOptions<T extends SpanType = SpanType> {
  readonly type: T;
  readonly attrs?: SpanAttributes;
  readonly parent?: AISpan;
}
/** Opens spans. Recognised by shape. */
export interface Tracer {
  startSpan<T extends SpanType>(opts: SpanOptions<T>): AISpan<T>;
  span<T extends SpanType, R>(opts: SpanOptions<T>, fn: (span: AISpan<T>) => R | Promise<R>): Promise<R>;
  shutdown(): Promise<void>;
}
/** Writes log lines. */
export interface Logger {
  trace(message: string, fields?: Readonly<Record<string, unknown>>): void;
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
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

/** A tracer that records nothing: `span` runs its function and ends the inert span, whatever happens. */
export const NOOP_TRACER: Tracer = {
  startSpan: (opts) => inertSpan(opts.type),
  async span(opts, fn) {
    const span = inertSpan(opts.type);
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
