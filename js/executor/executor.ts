import { native } from '../binding.js';
import type { CompletedToolCall, ResolvedTool, RunContext, ToolCall } from '../core/index.js';
import { createDefaultSpillWriter } from '../result/index.js';
import { closeFrame, openFrame } from './frame.js';
import type { CallRequest, ExecutorState, Frame } from './frame.js';
import { describe } from './host/before.js';
import { escapedRecord } from './host/report.js';
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
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : DEFAULT_GRACE_MS;
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

type Request = Omit<CallRequest, 'call' | 'finish'>;

/** Describes a call's tool; what a strange entry throws passes through, and leaves no frame open. */
function describeOr(entry: ResolvedTool, open: ReadonlyArray<Frame>, frame: Frame): void {
  const runtime = callRuntime();
  try {
    describe(frame, entry, (slot, bits, cap, name) => runtime.describe(slot, bits, cap, name));
  } catch (error) {
    for (const one of open) closeFrame(one);
    throw error;
  }
}

/** Looks a call's tool up now and gives the call a frame. What the registry throws passes through. */
function prepare(request: Request, call: ToolCall, finish: (frame: Frame) => void): Frame {
  const entry = request.state.options.registry.get(call.toolName) as ResolvedTool | undefined;
  const frame = openFrame({ ...request, call, finish });
  if (entry) describeOr(entry, [frame], frame);
  return frame;
}

function requestOf(state: ExecutorState, opts: ExecuteOneOptions | ExecuteBatchOptions): Request {
  return {
    state,
    runContext: opts.runContext as RunContext,
    stepNumber: opts.stepNumber,
    trustLevel: opts.trustLevel ?? 'user-defined',
  };
}

function runOne(state: ExecutorState, opts: ExecuteOneOptions): Promise<CompletedToolCall> {
  return new Promise((resolve, reject) => {
    const frame = prepare(requestOf(state, opts), opts.call, (done) => {
      if (done.record) resolve(done.record);
      else reject(done.thrown);
    });
    state.native.runOne(frame.slot, batchBits(opts));
  });
}

function runBatch(state: ExecutorState, opts: ExecuteBatchOptions): Promise<ReadonlyArray<CompletedToolCall>> {
  return new Promise((resolve) => {
    const calls = [...opts.calls];
    const records = new Array<CompletedToolCall>(calls.length);
    let left = calls.length;
    if (left === 0) {
      resolve(Object.freeze(records));
      return;
    }
    const request = requestOf(state, opts);
    // What the registry throws here rejects the batch, before any call has a frame.
    const entries = calls.map((call) => state.options.registry.get(call.toolName) as ResolvedTool | undefined);
    const frames = calls.map((call, index) =>
      openFrame({
        ...request,
        call,
        finish: (done) => {
          records[index] = done.record ?? escapedRecord(done);
          left -= 1;
          if (left === 0) resolve(Object.freeze(records));
        },
      }),
    );
    const isSequential = (index: number): boolean => entries[index]?.executionMode === 'sequential';
    const order = calls.map((_, index) => index);
    const sequential = order.filter(isSequential);
    const parallel = order.filter((index) => !isSequential(index));
    // Only a call that starts at once keeps this look-up; a queued one asks again at its turn.
    const first = sequential.length > 0 ? sequential.slice(0, 1) : parallel.slice(0, state.window);
    for (const index of first) {
      const entry = entries[index];
      if (entry) describeOr(entry, frames, frames[index]!);
    }
    const slots = (indexes: number[]): number[] => indexes.map((index) => frames[index]!.slot);
    state.native.runBatch(slots(sequential), slots(parallel), batchBits(opts));
  });
}

/**
 * Makes an executor. It is cheap: it owns no thread and no timer, and may be made per run.
 *
 * @throws RangeError when `maxParallelTools` is below 1 or no number.
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
  const graceMs = grace(options.cancellationGraceMs);
  const settings = settingsOf(options, graceMs);
  const state: ExecutorState = {
    native: new (native().NativeExecutor)(callRuntime(), settings),
    options,
    spill: options.spill ?? createDefaultSpillWriter(),
    producers: new Map(),
    producerCap: options.handleProducerTaintCap ?? DEFAULT_PRODUCER_CAP,
    graceMs,
    window: settings.maxParallel,
    inFlight: new Map(),
  };
  return {
    executeBatch: (opts) => runBatch(state, opts as ExecuteBatchOptions),
    executeOne: (opts) => runOne(state, opts as ExecuteOneOptions),
  };
}
