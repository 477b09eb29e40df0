/**
 * The values of a call. They never leave JavaScript: the native pipeline names a call by its slot,
 * and the functions in `host/` read and write the frame under that number.
 *
 * @internal
 */
import type { AsyncResource } from 'node:async_hooks';
import type { NativeExecutor } from '../../native/binding.js';
import type {
  CompletedToolCall,
  MessageContent,
  ResolvedTool,
  RunContext,
  Sandbox,
  Sensitivity,
  ToolCall,
  ToolError,
  ToolOutcome,
  ToolReturnTaint,
  ToolSource,
  ToolTrustClass,
} from '../core/index.js';
import type { SpillWriter } from '../result/index.js';
import type { ToolSecretsOwner } from '../secrets/context.js';
import type { Parsed } from './args.js';
import type { SpillNames } from './host/spill-names.js';
import type { CallScope } from './scope.js';
import type {
  ExecutorOptions,
  MemoryModificationGuard,
  MemorySnapshot,
  ToolSpan,
} from './types.js';

/** The callback threw; its value is in the frame. */
export const THREW = -1;
/** The answer will be settled. */
export const PENDING = -2;
/** The answer is in the frame's details. */
export const DETAILS = -3;

/**
 * The numbers that cross beside a call in either direction: a store costs less than an argument. On
 * the way to a host function the first is the call's slot, on the way back its answer.
 * Whoever is called reads them first thing, since the next crossing writes others.
 */
export const registers = new Float64Array(7);

/** No parts, no patterns: most results have none. */
export const NO_PARTS: readonly never[] = Object.freeze([]);

/** Whose output a spilled artifact is. */
export interface ProducerRecord {
  readonly trustClass: ToolTrustClass;
  readonly source: ToolSource;
  readonly sensitivity?: Sensitivity;
  readonly imperativeFlagged?: true;
}

/** What is shared by the calls of an executor. */
export interface ExecutorState {
  readonly native: NativeExecutor;
  readonly options: ExecutorOptions;
  readonly spill: SpillWriter;
  /** Names of the results this executor has spilled. */
  readonly spillNames: SpillNames;
  /** Handles this executor has spilled, oldest first. */
  readonly producers: Map<string, ProducerRecord>;
  readonly producerCap: number;
  readonly graceMs: number;
  /** Calls of a batch that start at once. */
  readonly window: number;
  /** Calls in flight by idempotency key. */
  readonly inFlight: Map<string, { readonly fingerprint: string; readonly done: Promise<ToolOutcome | undefined> }>;
}

/** What the calls of one `executeOne` or `executeBatch` have in common. */
export interface Run {
  readonly state: ExecutorState;
  readonly runContext: RunContext;
  readonly stepNumber: number;
  readonly trustLevel: string;
  /** The async context the calls were made in. */
  readonly context: AsyncResource;
  /** Takes a call over that has ended. */
  done(frame: Frame): void;
}

/** The details of a bounded body, in the order the native side asks for them. */
export interface BoundDetails {
  truncated: boolean;
  strategyIndex: number;
  originalTokens: number;
  keptTokens: number;
  droppedTokens: number;
  unitsDropped: number;
  summarizerModel: string | undefined;
  artifactPath: string | undefined;
  artifactBytes: number | undefined;
  degraded: boolean;
}

/** One call. */
export class Frame {
  readonly slot: number;
  readonly state: ExecutorState;
  readonly call: ToolCall;
  readonly runContext: RunContext;
  readonly stepNumber: number;
  readonly trustLevel: string;
  readonly run: Run;
  /** The place of the call in its batch. */
  readonly index: number;

  /** How {@link describe} named the tool to the native side; 0 before. */
  described = 0;
  /** The call has waited for its turn. */
  queued = false;
  /** An attempt was made before. */
  attempted = false;
  /** The async context this attempt runs in. */
  context: AsyncResource;
  entry: ResolvedTool | undefined = undefined;
  effective: unknown = undefined;
  validated: unknown = undefined;
  updatedInput: unknown = undefined;
  schemaMessage: string | undefined = undefined;
  schemaError: unknown = undefined;
  reason: string | undefined = undefined;
  flow: string | undefined = undefined;
  sourceKinds: ReadonlyArray<string> | undefined = undefined;

  /** What a callback threw last, and which. */
  thrown: unknown = undefined;
  callback: string | undefined = undefined;
  /** The message of a call that a thrown value has left. */
  escape: string | undefined = undefined;

  span: ToolSpan | undefined = undefined;
  spanEpoch = 0;
  spanRan = false;
  /** How the tracer ended, once it has. */
  spanEnding: number | undefined = undefined;
  attemptEnded = false;
  attemptFailed = false;
  spanOver: ((code: number) => void) | undefined = undefined;
  /** Ends the watch over a tracer that has not run the body yet. */
  spanLeave: (() => void) | undefined = undefined;
  settleAttempt: ((success: boolean) => void) | undefined = undefined;
  spanTimer: ReturnType<typeof setTimeout> | undefined = undefined;

  /** Ends the context of an approval predicate that has not answered. */
  predicate: CallScope | undefined = undefined;
  scope: CallScope | undefined = undefined;
  owner: ToolSecretsOwner | undefined = undefined;
  guard: MemoryModificationGuard | undefined = undefined;
  before: MemorySnapshot | undefined = undefined;
  regions: ReadonlyArray<string> | undefined = undefined;
  verifyUs = 0;
  idempotencyKey: string | undefined = undefined;
  /** The entry of this call that others with the same idempotency key join. */
  idempotent:
    | {
        readonly key: string;
        readonly fingerprint: string;
        readonly release: (outcome: ToolOutcome | undefined) => void;
      }
    | undefined = undefined;
  /** The failure of the call this one joined. */
  joined: ToolError | undefined = undefined;

  sandbox: Sandbox | undefined = undefined;
  sandboxPolicy: { timeoutMs: number; maxMemoryMb: number; noNetwork: boolean; noFilesystem: boolean } | undefined =
    undefined;
  dispatchEpoch = 0;
  startedAt = 0;
  limitTimer: ReturnType<typeof setTimeout> | undefined = undefined;
  graceTimer: ReturnType<typeof setTimeout> | undefined = undefined;

  /** The tool of this attempt has settled or was given up on. */
  ran = false;
  /** The call's own signal was aborted when the race ended. */
  cancelled = false;
  raw: unknown = undefined;
  output: unknown = undefined;
  /** Says again what the output schema said, when it was asked ahead and the answer was not a plain yes. */
  checked: (() => Parsed | Promise<Parsed>) | undefined = undefined;
  /** The text form of the output. */
  text = '';
  textParts: ReadonlyArray<Extract<MessageContent, { readonly type: 'text' }>> = NO_PARTS;
  nonText: ReadonlyArray<MessageContent> = NO_PARTS;
  producer: ProducerRecord | undefined = undefined;
  body = '';
  bound: BoundDetails | undefined = undefined;
  handle: string | undefined = undefined;
  spillFlagged = false;
  patterns: ReadonlyArray<string> = NO_PARTS;
  sanitised: { wrapped: boolean; stripped: boolean; blocked: boolean; scanUs: number } | undefined = undefined;
  taint: ToolReturnTaint | undefined = undefined;

  error: ToolError | undefined = undefined;
  outcome: ToolOutcome | undefined = undefined;
  record: CompletedToolCall | undefined = undefined;
  /** The call has ended. */
  closed = false;

  constructor(slot: number, run: Run, call: ToolCall, index: number) {
    this.slot = slot;
    this.state = run.state;
    this.call = call;
    this.runContext = run.runContext;
    this.stepNumber = run.stepNumber;
    this.trustLevel = run.trustLevel;
    this.run = run;
    this.context = run.context;
    this.index = index;
  }

  /** The tool; the pipeline asks for it only after the look-up. */
  get tool(): ResolvedTool {
    return this.entry as ResolvedTool;
  }
}

/** A call that waits for its turn: of a large batch most do, and a frame is large. */
interface Waiting {
  readonly run: Run;
  readonly call: ToolCall;
  readonly index: number;
}

const frames: (Frame | undefined)[] = [];
const waiting: (Waiting | undefined)[] = [];
const free: number[] = [];

/** Gives a call a slot; its frame is made when it is asked for. */
export function reserveFrame(run: Run, call: ToolCall, index: number): number {
  const slot = free.pop() ?? frames.length;
  frames[slot] = undefined;
  waiting[slot] = { run, call, index };
  return slot;
}

/** The frame of a slot. */
export function frameAt(slot: number): Frame {
  return frames[slot] ?? openFrame(slot);
}

function openFrame(slot: number): Frame {
  const { run, call, index } = waiting[slot] as Waiting;
  waiting[slot] = undefined;
  const frame = new Frame(slot, run, call, index);
  frames[slot] = frame;
  return frame;
}

/** Takes the slot of a call back. */
export function closeFrame(slot: number): void {
  const frame = frames[slot];
  if (frame) frame.closed = true;
  frames[slot] = undefined;
  waiting[slot] = undefined;
  free.push(slot);
}

/** Slots in use; for tests. */
export function openFrameCount(): number {
  return frames.length - free.length;
}
