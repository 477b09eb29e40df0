/**
 * What the executor's tests share: a registry of hand-made entries, a tracer and a sink that record,
 * and one log in which rows (A), events (E) and span calls (S) stand in the order they happened.
 */
import { onTestFinished } from 'vitest';
import { _resetToolAuditListenersForTesting, resetCountersForTesting, snapshotCounters } from 'ferrule/audit';
import type { ToolAuditEvent } from 'ferrule/audit';
import type { CompletedToolCall, ResolvedTool, RunContext, ToolError, ToolResult } from 'ferrule/core';
import { NOOP_TRACER } from 'ferrule/core';
import { createToolExecutor } from 'ferrule/executor';
import type { ExecuteBatchOptions, ExecutorEvent, ExecutorOptions, ToolExecutor } from 'ferrule/executor';

export type Loose = Record<string, unknown>;

/** A schema that takes everything as it is. */
export const anything = {
  parse: (data: unknown) => data,
  safeParse: (data: unknown) => ({ success: true as const, data }),
};

/** A schema that refuses everything. */
export const nothing = {
  parse: () => {
    throw new Error('refused');
  },
  safeParse: () => ({ success: false as const, error: { name: 'E', message: 'refused by schema', issues: [] } }),
};

/** An entry as a registry would hand it out. */
export function entry(name: string, fields: Loose = {}): ResolvedTool {
  return Object.freeze({
    name,
    description: `the tool ${name}`,
    inputSchema: anything,
    inboundSanitization: 'pass-through',
    truncationStrategy: 'middle',
    maxResultTokens: 16_384,
    __trustClass: 'first-party-user-defined',
    __sideEffectClass: 'read-only',
    __source: Object.freeze({ kind: 'first-party' }),
    __hasIdempotencyKey: typeof fields['idempotencyKey'] === 'function',
    __streamingHint: fields['streamingHint'] === true,
    __effectiveDeferLoading: false,
    __exampleCount: 0,
    execute: async () => 'ok',
    ...fields,
  }) as unknown as ResolvedTool;
}

/** A registry over entries; `get` works as a method only. */
export function registryOf(entries: Iterable<ResolvedTool>): { get(name: string): ResolvedTool | undefined } {
  const map = new Map([...entries].map((one) => [one.name, one]));
  return {
    get(this: unknown, name: string) {
      if (this === undefined) throw new TypeError('get was called detached');
      return map.get(name);
    },
  };
}

/** A run. */
export function run(fields: Loose = {}): RunContext {
  return {
    runId: 'run-1',
    sessionId: 'session-1',
    agentId: 'agent-1',
    deps: {},
    tracer: NOOP_TRACER,
    signal: new AbortController().signal,
    usage: {},
    stepNumber: 7,
    messages: [],
    state: {},
    ...fields,
  } as unknown as RunContext;
}

let ids = 0;
/** A call. */
export function call(toolName: string, args: unknown = {}, toolCallId = `call-${(ids += 1)}`) {
  return { toolCallId, toolName, args };
}

export interface SpanLog {
  readonly options: Loose;
  readonly attributes: Loose[];
  readonly events: string[];
  readonly statuses: [string, string | undefined][];
  readonly exceptions: unknown[];
  ended: boolean;
  rejected: unknown;
}

/** A tracer that writes into `log` and keeps its spans; like a stock one it reaches `startSpan` through `this`. */
export function recordingTracer(log: string[] = []) {
  const spans: SpanLog[] = [];
  return {
    spans,
    startSpan(options: Loose) {
      const span: SpanLog = {
        options, attributes: [], events: [], statuses: [], exceptions: [], ended: false, rejected: undefined,
      };
      spans.push(span);
      log.push('S create');
      return {
        type: options['type'],
        id: `span-${spans.length}`,
        traceId: 'trace',
        setAttributes: (attributes: Loose) => {
          span.attributes.push(attributes);
          log.push(`S attrs ${Object.keys(attributes).map((key) => key.replace('graphorin.tool.', '')).join(' ')}`);
        },
        addEvent: (name: string) => {
          span.events.push(name);
          log.push(`S event ${name}`);
        },
        recordException: (error: unknown) => {
          span.exceptions.push(error);
          log.push('S exception');
        },
        setStatus: (status: string, message?: string) => {
          span.statuses.push([status, message]);
          log.push(`S status ${status}: ${message}`);
        },
        end: () => {
          span.ended = true;
        },
        log: span,
      };
    },
    async span(options: Loose, fn: (span: unknown) => Promise<unknown>) {
      const span = this.startSpan(options);
      try {
        return await fn(span);
      } catch (error) {
        span.log.rejected = error;
        throw error;
      } finally {
        span.end();
      }
    },
    shutdown: async () => {},
  };
}

export type RecordingTracer = ReturnType<typeof recordingTracer>;

/** An executor over entries, with everything it says recorded. Counters start at zero. */
export function bench(entries: ReadonlyArray<ResolvedTool>, options: Partial<ExecutorOptions> & Loose = {}) {
  resetCountersForTesting();
  const log: string[] = [];
  const rows: ToolAuditEvent[] = [];
  const events: ExecutorEvent[] = [];
  const tracer = recordingTracer(log);
  const executor: ToolExecutor = createToolExecutor({
    registry: registryOf(entries) as never,
    emitAudit: (row: ToolAuditEvent) => {
      rows.push(row);
      log.push(`A ${row.action.replace('tool:', '')}`);
    },
    streamingSink: (event: ExecutorEvent) => {
      events.push(event);
      log.push(`E ${event.type.replace('tool.execute.', '')}`);
    },
    ...options,
  } as ExecutorOptions);
  const runContext = run({ tracer });
  onTestFinished(() => _resetToolAuditListenersForTesting());
  return {
    executor, log, rows, events, tracer, runContext,
    /** Runs one call. */
    one: (...[toolName, ...rest]: [string, unknown?, Loose?]): Promise<CompletedToolCall> => {
      const [args, more] = rest.length === 0 ? [{}] : rest;
      const wire = { ...call(toolName), args };
      return executor.executeOne({ call: wire, runContext, stepNumber: 3, ...more } as never);
    },
    /** Runs one call as a batch. */
    batchOne: async (toolName: string, args: unknown = {}, more: Loose = {}): Promise<CompletedToolCall> => {
      const opts = { calls: [call(toolName, args)], runContext, stepNumber: 3, ...more };
      const [record] = await executor.executeBatch(opts as unknown as ExecuteBatchOptions);
      return record!;
    },
    /** Runs a batch of names or calls. */
    batch: (calls: ReadonlyArray<unknown>, more: Loose = {}): Promise<ReadonlyArray<CompletedToolCall>> => {
      const list = calls.map((one) => (typeof one === 'string' ? call(one) : one));
      const opts = { calls: list, runContext, stepNumber: 3, ...more };
      return executor.executeBatch(opts as unknown as ExecuteBatchOptions);
    },
    actions: () => rows.map((row) => row.action),
    row: (action: string) => rows.find((row) => row.action === action),
  };
}

/** The counters that are not zero, without the scan times. */
export function counters(): Record<string, number> {
  const all = snapshotCounters().counters;
  return Object.fromEntries(
    Object.entries(all).filter(([key, value]) => value !== 0 && !key.includes('scan.duration_us')),
  );
}

/** The observations of a histogram. */
export function histogram(key: string): ReadonlyArray<number> {
  return snapshotCounters().histograms[key] ?? [];
}

/** The outcome as a failure. */
export function failure(record: CompletedToolCall): ToolError {
  if (!('kind' in record.outcome)) throw new Error(`succeeded: ${JSON.stringify(record.outcome)}`);
  return record.outcome;
}

/** The outcome as a success. */
export function success(record: CompletedToolCall): ToolResult {
  if ('kind' in record.outcome) throw new Error(`failed: ${record.outcome.kind}: ${record.outcome.message}`);
  return record.outcome;
}

/** Waits. */
export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A promise and its ends. */
export function deferred<T = void>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** A signal that counts its `abort` listeners, and its controller. */
export function countedSignal() {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  const held = new Set<unknown>();
  signal.addEventListener = ((type: string, listener: never, options: never) => {
    if (type === 'abort' && !held.has(listener)) {
      held.add(listener);
      listeners += 1;
    }
    add(type as 'abort', listener, options);
  }) as never;
  signal.removeEventListener = ((type: string, listener: never) => {
    if (type === 'abort' && held.delete(listener)) listeners -= 1;
    remove(type as 'abort', listener);
  }) as never;
  // Every listener of ours is a `once` one: the abort takes it away.
  add('abort', () => {
    held.clear();
    listeners = 0;
  });
  return { controller, signal, listeners: () => listeners };
}
