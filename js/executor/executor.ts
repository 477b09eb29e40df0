import { AsyncResource } from 'node:async_hooks';
import { countWaiting, native } from '../binding.js';
import type { CompletedToolCall, ResolvedTool, RunContext, ToolCall } from '../core/index.js';
import { countTokensHeuristic, createDefaultSpillWriter } from '../result/index.js';
import { closeFrame, frameAt, reserveFrame } from './frame.js';
import type { ExecutorState, Frame, Run } from './frame.js';
import { describeEntry } from './host/before.js';
import { escapedRecord } from './host/report.js';
import { SpillNames } from './host/spill-names.js';
import { LONGEST_WAIT_MS, callOf, callsOf, checkExecutorOptions, checkRunOptions } from './options.js';
import { callRuntime } from './runtime.js';
import type { ExecuteBatchOptions, ExecuteOneOptions, ExecutorOptions, ToolExecutor } from './types.js';

const DEFAULT_MAX_PARALLEL = 8;
const DEFAULT_GRACE_MS = 50;
const DEFAULT_PRODUCER_CAP = 1024;
const LARGEST_U32 = 0xffff_ffff;

function maxParallel(value: number | undefined): number {
  const bound = value ?? DEFAULT_MAX_PARALLEL;
  if (typeof bound !== 'number' || Number.isNaN(bound) || bound < 1) {
    throw new RangeError(
      `createToolExecutor: 'maxParallelTools' must be at least 1 (got ${String(value)}); leave it out for the default of ${DEFAULT_MAX_PARALLEL}.`,
    );
  }
  return Math.min(Math.floor(bound), LARGEST_U32);
}

function grace(value: number | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.min(value, LONGEST_WAIT_MS) : DEFAULT_GRACE_MS;
}

function settingsOf(options: ExecutorOptions, graceMs: number): ConstructorParameters<ReturnType<typeof native>['NativeExecutor']>[1] {
  const policy = options.argumentPolicy;
  return {
    maxParallel: maxParallel(options.maxParallelTools),
    graceMs,
    ...(options.inlineToolTimeoutMs === undefined || options.inlineToolTimeoutMs === null
      ? {}
      : { inlineTimeoutMs: options.inlineToolTimeoutMs }),
    retryMaxAttempts: options.retry?.maxAttempts ?? 3,
    retryBackoffMs: options.retry?.backoffMs ?? 250,
    retryKinds: [...(options.retry?.kinds ?? ['rate_limited'])],
    ownAuditor: typeof options.emitAudit === 'function',
    hasSink: typeof options.streamingSink === 'function',
    ownCounter: Boolean(options.tokenCounter) && options.tokenCounter !== countTokensHeuristic,
    permissionHook: typeof options.permissionHook === 'function',
    approvalGate: Boolean(options.approvalGate),
    argumentPolicy: Boolean(policy),
    deniesName: typeof policy?.deniesName === 'function',
    repair: Boolean(options.repair),
    dataFlowGuard: Boolean(options.dataFlowGuard),
    memoryGuard: typeof options.memoryGuardFactory === 'function',
    sandboxResolver: typeof options.sandboxResolver === 'function',
    idempotencyStore: Boolean(options.idempotencyStore),
  };
}

const TRUST_BITS: Readonly<Record<string, number>> = {
  'user-defined': 0,
  'built-in': 1,
  trusted: 2,
  untrusted: 3,
};

interface Shared {
  readonly trustLevel?: string;
  readonly disableRepair?: boolean;
  readonly preApproved?: boolean;
  readonly capability?: string;
}

function batchBits(options: Shared): number {
  return (
    (TRUST_BITS[options.trustLevel ?? 'user-defined'] ?? 0) |
    (options.disableRepair === true ? 4 : 0) |
    (options.preApproved === true ? 8 : 0) |
    (options.capability === 'read-only' ? 16 : 0)
  );
}

/** Gives the slots of calls back that never started, because describing a tool threw. */
function abandon(slots: ReadonlyArray<number>, error: unknown): never {
  for (const slot of slots) closeFrame(slot);
  throw error;
}

abstract class RunBase {
  readonly state: ExecutorState;
  readonly runContext: RunContext;
  readonly stepNumber: number;
  readonly trustLevel: string;
  readonly context = new AsyncResource('ferrule.run');

  constructor(method: 'executeOne' | 'executeBatch', state: ExecutorState, opts: ExecuteOneOptions | ExecuteBatchOptions) {
    checkRunOptions(method, opts);
    this.state = state;
    this.runContext = opts.runContext as RunContext;
    this.stepNumber = opts.stepNumber;
    this.trustLevel = opts.trustLevel ?? 'user-defined';
  }

  /** What is registered under the name now. What the registry throws passes through. */
  find(call: ToolCall): ResolvedTool | undefined {
    return this.state.options.registry.get(call.toolName) as ResolvedTool | undefined;
  }
}

class SingleRun extends RunBase implements Run {
  readonly #resolve: (record: CompletedToolCall) => void;
  readonly #reject: (reason: unknown) => void;

  constructor(
    state: ExecutorState,
    opts: ExecuteOneOptions,
    resolve: (record: CompletedToolCall) => void,
    reject: (reason: unknown) => void,
  ) {
    super('executeOne', state, opts);
    this.#resolve = resolve;
    this.#reject = reject;
    const call = callOf(opts);
    const entry = this.find(call);
    const slot = reserveFrame(this, call, 0);
    try {
      describeEntry(frameAt(slot), entry);
    } catch (error) {
      abandon([slot], error);
    }
    countWaiting();
    state.native.runOne(slot, batchBits(opts));
  }

  done(frame: Frame): void {
    if (frame.record) this.#resolve(frame.record);
    else this.#reject(frame.thrown);
  }
}

class BatchRun extends RunBase implements Run {
  readonly #records: CompletedToolCall[];
  readonly #resolve: (records: ReadonlyArray<CompletedToolCall>) => void;
  #left: number;

  constructor(
    state: ExecutorState,
    opts: ExecuteBatchOptions,
    resolve: (records: ReadonlyArray<CompletedToolCall>) => void,
  ) {
    super('executeBatch', state, opts);
    const calls = callsOf(opts);
    this.#records = new Array<CompletedToolCall>(calls.length);
    this.#resolve = resolve;
    this.#left = calls.length;
    if (calls.length === 0) {
      resolve(Object.freeze(this.#records));
      return;
    }
    // What the registry throws here rejects the batch, before any call has a slot.
    const entries = calls.map((call) => this.find(call));
    const slots = calls.map((call, index) => reserveFrame(this, call, index));
    const sequential: number[] = [];
    const parallel: number[] = [];
    for (let index = 0; index < calls.length; index += 1) {
      (entries[index]?.executionMode === 'sequential' ? sequential : parallel).push(index);
    }
    // Only a call that starts at once keeps this look-up; a queued one asks again at its turn.
    const first = sequential.length > 0 ? sequential.slice(0, 1) : parallel.slice(0, state.window);
    try {
      for (const index of first) describeEntry(frameAt(slots[index]!), entries[index]);
    } catch (error) {
      abandon(slots, error);
    }
    const slotsOf = (indexes: number[]): number[] => indexes.map((index) => slots[index]!);
    countWaiting();
    state.native.runBatch(slotsOf(sequential), slotsOf(parallel), batchBits(opts));
  }

  done(frame: Frame): void {
    this.#records[frame.index] = frame.record ?? escapedRecord(frame);
    this.#left -= 1;
    if (this.#left === 0) this.#resolve(Object.freeze(this.#records));
  }
}

/**
 * Makes an executor. It is cheap: it owns no thread and no timer, and may be made per run.
 *
 * @throws TypeError without a registry. RangeError when `maxParallelTools` is below 1 or no number, or
 * another option that has to be a number is none. A run
 * without a run context, or with a call that is no object, rejects with a TypeError.
 *
 * @example
 * const executor = createToolExecutor({ registry });
 * const [done] = await executor.executeBatch({
 *   calls: [{ toolCallId: 'c1', toolName: 'weather.lookup', args: { city: 'Bern' } }],
 *   runContext,
 *   stepNumber: 1,
 * });
 * if ('kind' in done.outcome) console.error(done.outcome.message);
 */
export function createToolExecutor(options: ExecutorOptions): ToolExecutor {
  checkExecutorOptions(options);
  const graceMs = grace(options.cancellationGraceMs);
  const settings = settingsOf(options, graceMs);
  const state: ExecutorState = {
    native: new (native().NativeExecutor)(callRuntime(), settings),
    options,
    spill: options.spill ?? createDefaultSpillWriter(),
    spillNames: new SpillNames(),
    producers: new Map(),
    producerCap: options.handleProducerTaintCap ?? DEFAULT_PRODUCER_CAP,
    graceMs,
    window: settings.maxParallel,
    inFlight: new Map(),
  };
  return {
    executeBatch: (opts) =>
      new Promise((resolve) => {
        new BatchRun(state, opts as ExecuteBatchOptions, resolve);
      }),
    executeOne: (opts) =>
      new Promise((resolve, reject) => {
        new SingleRun(state, opts as ExecuteOneOptions, resolve, reject);
      }),
  };
}
