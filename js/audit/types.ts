import type {
  InboundSanitizationPolicy,
  SideEffectClass,
  ToolTrustClass,
  TruncationStrategy,
} from '../core/index.js';

/** What an audit row is about. */
export type ToolAuditAction =
  | 'tool:registered'
  | 'tool:classification:warn'
  | 'tool:examples:overflow'
  | 'tool:result:cap-disabled'
  | 'tool:execute:start'
  | 'tool:execute:end'
  | 'tool:execute:error'
  | 'tool:execute:streamed'
  | 'tool:approval:requested'
  | 'tool:approval:granted'
  | 'tool:approval:denied'
  | 'tool:permission:rewritten'
  | 'tool:result:truncated'
  | 'tool:result:spill:written'
  | 'tool:result:sanitization:hit'
  | 'tool:result:sanitization:blocked'
  | 'tool:dataflow:flagged'
  | 'tool:dataflow:blocked'
  | 'tool:dataflow:declassified'
  | 'tool:retrieval:deferred'
  | 'tool:retrieval:search:executed'
  | 'tool:collision:detected'
  | 'tool:collision:priority-resolved'
  | 'tool:collision:auto-prefix-applied'
  | 'tool:collision:manual-rejected'
  | 'tool:collision:suppressed';

/** Who acted. */
export interface ToolAuditActor {
  /** Who acted. */
  readonly kind: 'tool' | 'agent' | 'system';
  /** Which one. */
  readonly id: string;
}

/** How it ended. */
export type ToolAuditDecision = 'success' | 'denied' | 'error';

/** One audit row. Holds names, numbers and digests, never arguments or outputs. */
export interface ToolAuditEvent {
  /** What happened. */
  readonly action: ToolAuditAction;
  /** Who did it. */
  readonly actor: ToolAuditActor;
  /** The tool it is about. */
  readonly target: string;
  /** How it was decided. */
  readonly decision: ToolAuditDecision;
  /** Milliseconds since the epoch. */
  readonly ts: number;
  /** The call it happened in. */
  readonly context?: {
    readonly runId?: string;
    readonly sessionId?: string;
    readonly stepNumber?: number;
    readonly toolCallId?: string;
  };
  /** More about it, as plain data. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Called with every audit row, synchronously. */
export type ToolAuditListener = (event: ToolAuditEvent) => void;

/** Label values are put into the key as text. */
export type MetricLabels = Readonly<Record<string, string | number | boolean>>;

/** All counters, gauges and histograms at one moment. Frozen throughout; keys in first-write order. */
export interface CounterSnapshot {
  /** Counters and gauges by key, `name` or `name{a=1,b=2}`. */
  readonly counters: Readonly<Record<string, number>>;
  /** Raw observations by key, oldest first. */
  readonly histograms: Readonly<Record<string, ReadonlyArray<number>>>;
  /** What last wrote each key of `counters`. */
  readonly kinds: Readonly<Record<string, 'counter' | 'gauge'>>;
}

/** What {@link createRegisteredEvent} takes. */
export interface RegisteredEventOptions {
  /** Name of the tool. */
  readonly toolName: string;
  /** How far the output of the tool is trusted. */
  readonly trustClass: ToolTrustClass;
  /** What a call may change. */
  readonly sideEffectClass: SideEffectClass;
  /** Whether the tool names its calls. */
  readonly hasIdempotencyKey: boolean;
  /** Whether the tool streams. */
  readonly streamingHint: boolean;
  /** What happens to its output before a model reads it. */
  readonly inboundSanitization: InboundSanitizationPolicy;
  /** How its results are bounded. */
  readonly truncationStrategy: TruncationStrategy;
  /** In tokens; 0 means no cap. */
  readonly maxResultTokens: number;
  /** Whether it is withheld until a search finds it. */
  readonly deferLoading: boolean;
  /** How many worked examples it has. */
  readonly examplesCount: number;
  /** Milliseconds since the epoch; now when left out. */
  readonly ts?: number;
}
