/**
 * The options of an executor and the interfaces of its collaborators (spec 02 sections 3 to 5).
 *
 * @packageDocumentation
 */
import type { ToolAuditEvent } from '../audit/index.js';
import type {
  AISpan,
  CompletedToolCall,
  Logger,
  RunContext,
  Sandbox,
  SecretValue,
  Sensitivity,
  SideEffectClass,
  MemoryGuardTier,
  ResolvedTool,
  ToolApproval,
  ToolCall,
  ToolErrorKind,
  ToolExecuteEvent,
  ToolReturnTaint,
  ToolSource,
  ToolTrustClass,
  Tracer,
} from '../core/index.js';
import type {
  GuardVerifyResult,
  MemoryModificationGuard,
  MemoryRegionReader,
  MemorySnapshot,
} from '../guard/types.js';
import type { ImperativePattern } from '../inbound/index.js';
import type { ToolRegistry } from '../registry/index.js';
import type { ResultSummarizer, SpillWriter, TokenCounter } from '../result/index.js';
import type { StreamingChannel } from '../streaming/index.js';

export type { GuardVerifyResult, MemoryModificationGuard, MemoryRegionReader, MemorySnapshot };

/** The answer of an approval gate. */
export type ApprovalDecision =
  | { readonly granted: true }
  | { readonly granted: false; readonly reason?: string };

/** Decides on calls whose tool says `needsApproval`. May take as long as a human does. */
export interface ApprovalGate {
  /**
   * @param call the call as the model made it.
   * @param approval the request; its `args` are what will be executed.
   */
  request(call: ToolCall, approval: ToolApproval): Promise<ApprovalDecision>;
}

/** One attempt to mend arguments that do not fit the schema. */
export interface ToolRepairHook {
  /** Resolves with the mended arguments, or null when it cannot. `signal` is the run's. */
  repair(input: {
    readonly toolName: string;
    readonly invalidArgs: unknown;
    readonly schemaError: unknown;
    readonly signal: AbortSignal;
  }): Promise<unknown>;
}

/** What the permission hook sees. */
export interface PermissionHookInput<TDeps = unknown> {
  readonly call: ToolCall;
  readonly validatedInput: unknown;
  readonly toolName: string;
  readonly sideEffectClass: SideEffectClass;
  readonly trustClass: ToolTrustClass;
  readonly sensitivity?: Sensitivity;
  readonly runContext: RunContext<TDeps>;
}
/** What it answers. Anything but the four words fails closed. */
export interface PermissionHookResult {
  readonly decision: 'allow' | 'deny' | 'ask' | 'defer';
  /** New arguments; validated before they are used. */
  readonly updatedInput?: unknown;
  readonly reason?: string;
}
/** Runs after validation and before approval, on every call. */
export type PermissionHook = (
  input: PermissionHookInput,
) => PermissionHookResult | Promise<PermissionHookResult>;

/** What an argument policy judges by. */
export interface ToolArgumentPolicyFacts {
  readonly toolName: string;
  readonly sideEffectClass: SideEffectClass;
  /** The tool's sensitivity is `secret`. */
  readonly sensitive: boolean;
  readonly trustClass: ToolTrustClass;
  /** The validated input. */
  readonly args: unknown;
}
/** Judges calls by their arguments. All of it synchronous. */
export interface ToolArgumentPolicyGuard {
  evaluate(
    facts: ToolArgumentPolicyFacts,
  ): { readonly effect: 'allow' } | { readonly effect: 'forbid'; readonly reason: string };
  /** Used instead of `evaluate` when there. */
  decide?(
    facts: ToolArgumentPolicyFacts,
  ): { readonly effect: 'allow' } | { readonly effect: 'deny' | 'ask' | 'defer'; readonly reason: string };
  /** Asked before anything else. */
  deniesName?(
    toolName: string,
  ): { readonly denied: false } | { readonly denied: true; readonly reason: string };
}

/** What a data-flow guard sees before a sink runs. */
export interface DataFlowInspectInput {
  readonly toolName: string;
  readonly sideEffectClass: SideEffectClass;
  readonly trustClass: ToolTrustClass;
  readonly sensitivity?: Sensitivity;
  readonly source?: ToolSource;
  /** The arguments as they will be executed, before the schema's transforms. */
  readonly args: unknown;
  readonly runContext: RunContext;
}
/** What it is told after every success. */
export interface DataFlowRecordInput {
  readonly toolName: string;
  readonly trustClass: ToolTrustClass;
  readonly sensitivity?: Sensitivity;
  readonly source?: ToolSource;
  /** The text the model will read. */
  readonly outputText: string;
  readonly taintOverride?: ToolReturnTaint;
  readonly runContext: RunContext;
}
/** Its verdict. */
export type DataFlowVerdict =
  | { readonly action: 'allow' }
  | {
      readonly action: 'flag' | 'declassify' | 'block';
      readonly flow: string;
      readonly reason: string;
      readonly sourceKinds: ReadonlyArray<string>;
    };
/** Watches where data comes from and where it goes. All of it synchronous. */
export interface DataFlowGuard {
  /** Asked before a `side-effecting` or `external-stateful` tool runs. */
  inspect(input: DataFlowInspectInput): DataFlowVerdict;
  record(input: DataFlowRecordInput): void;
}

/** Finds secrets for `ctx.secrets`. */
export interface SecretResolverHook {
  /** Resolves with the secret, or null when there is none of that key. */
  resolve(key: string): Promise<SecretValue | null>;
}

/** The isolation a call was given. */
export interface ExecutorSandboxPolicy {
  readonly kind: string;
  readonly noNetwork: boolean;
  readonly noFilesystem: boolean;
  /** Milliseconds; 0 means none. */
  readonly timeoutMs: number;
  /** MiB; 0 means none. */
  readonly maxMemoryMb: number;
  readonly forced: boolean;
  readonly reason: string;
}

/** Everything the sink of an executor hears. */
export type ExecutorEvent = ToolExecuteEvent;

/** Remembers results by idempotency key, so that a repeated call does not run twice. */
export interface IdempotencyStore {
  /** The entry of a key, or undefined. */
  get(key: string): IdempotencyEntry | undefined | Promise<IdempotencyEntry | undefined>;
  /** Stores a finished call. Only successes are stored. */
  set(key: string, entry: IdempotencyEntry): void | Promise<void>;
}
/** One finished call. */
export interface IdempotencyEntry {
  /** Digest of tool name and effective arguments. */
  readonly fingerprint: string;
  readonly outcome: unknown;
}

/** The options of `createToolExecutor`. Only `registry` is required. */
export interface ExecutorOptions {
  /** Where tools are found; asked at each call, so tools registered later are seen. */
  readonly registry: Pick<ToolRegistry, 'get'>;
  /** Calls of one batch in flight at once; a whole number from 1, or Infinity. Default 8. */
  readonly maxParallelTools?: number;
  /** Takes every audit row of this executor instead of the global bus. */
  readonly emitAudit?: (event: ToolAuditEvent) => void;
  /** Asked when a tool needs approval. Absent: such calls are denied. */
  readonly approvalGate?: ApprovalGate;
  readonly argumentPolicy?: ToolArgumentPolicyGuard;
  readonly permissionHook?: PermissionHook;
  /** One attempt to mend invalid arguments. */
  readonly repair?: ToolRepairHook;
  /** Counts tokens for the result cap. Default: four characters a token, rounded up. */
  readonly tokenCounter?: TokenCounter;
  /** For `summarize`; absent, that strategy becomes `middle`. */
  readonly summarizer?: ResultSummarizer;
  /** Where `spill-to-file` writes. Default: below the system's temporary folder. */
  readonly spill?: SpillWriter;
  readonly secretResolver?: SecretResolverHook;
  /** Milliseconds a cancelled tool may still take before it is given up on. Default 50. */
  readonly cancellationGraceMs?: number;
  /** Spill handles remembered; oldest dropped first, 0 or less for no bound. Default 1024. */
  readonly handleProducerTaintCap?: number;
  /** Replaces the built-in catalogue of injection patterns. */
  readonly imperativePatterns?: ReadonlyArray<ImperativePattern>;
  /** Milliseconds for each scan. Default 250. */
  readonly imperativeBudgetMs?: number;
  /** Hears every event, there and then. */
  readonly streamingSink?: (event: ExecutorEvent) => void;
  /** Nesting depth at which events of a re-entrant sink are dropped. Default 256. */
  readonly streamingEventQueueDepth?: number;
  /** Size of a call's stream buffer. Default 8388608. */
  readonly streamingMaxBufferBytes?: number;
  /** Finds the sandbox of a tier; null runs the tool in process. */
  readonly sandboxResolver?: (policy: ExecutorSandboxPolicy) => Sandbox | null;
  readonly memoryGuardFactory?: (tier: MemoryGuardTier) => MemoryModificationGuard | null;
  /** Without it guards take no snapshots. */
  readonly memoryRegionReader?: MemoryRegionReader;
  readonly dataFlowGuard?: DataFlowGuard;
  /**
   * Milliseconds an in-process call may take; beats the tier's default. 0 and non-finite values
   * mean no limit. Default: the tier's, which is 5000 for ordinary tools, else 60000.
   */
  readonly inlineToolTimeoutMs?: number;
  /** When failed attempts of readers and keyed tools are made again. */
  readonly retry?: {
    /** Attempts in all. Default 3. */
    readonly maxAttempts?: number;
    /** First pause in milliseconds, doubled each time. Default 250. */
    readonly backoffMs?: number;
    /** Default `['rate_limited']`. */
    readonly kinds?: ReadonlyArray<ToolErrorKind>;
  };
  /** Makes idempotency keys count: see {@link IdempotencyStore}. Absent: keys are only recorded. */
  readonly idempotencyStore?: IdempotencyStore;
  /** Puts arguments and results on the span. Default neither. */
  readonly spanContent?: { readonly args?: boolean; readonly result?: boolean };
}

interface CommonExecuteOptions<TDeps> {
  readonly runContext: RunContext<TDeps>;
  /** Stamped on records, events and rows. */
  readonly stepNumber: number;
  /** Default `user-defined`. */
  readonly trustLevel?: 'built-in' | 'user-defined' | 'trusted' | 'untrusted';
  /** True turns the repair hook off. */
  readonly disableRepair?: boolean;
  /** True replays calls a human already granted. */
  readonly preApproved?: boolean;
  /** `read-only` refuses writers. */
  readonly capability?: 'read-only';
}
/** The options of `executeBatch`. */
export interface ExecuteBatchOptions<TDeps = unknown> extends CommonExecuteOptions<TDeps> {
  readonly calls: Iterable<ToolCall>;
}
/** The options of `executeOne`. */
export interface ExecuteOneOptions<TDeps = unknown> extends CommonExecuteOptions<TDeps> {
  readonly call: ToolCall;
}

/** Runs tool calls. */
export interface ToolExecutor {
  /**
   * Runs a batch: the tools that say `sequential` first, one after another, then the rest in
   * parallel. Resolves with one frozen record a call, in the order of `calls`.
   */
  executeBatch<TDeps = unknown>(
    opts: ExecuteBatchOptions<TDeps>,
  ): Promise<ReadonlyArray<CompletedToolCall>>;
  /** Runs one call. Rejects only when a callback threw where nothing contains it. */
  executeOne<TDeps = unknown>(opts: ExecuteOneOptions<TDeps>): Promise<CompletedToolCall>;
}

/** The parts of a tool context. */
export interface ToolContextOptions<TDeps = unknown> {
  readonly tool: ResolvedTool<unknown, unknown, TDeps>;
  readonly toolCallId: string;
  readonly runContext: RunContext<TDeps>;
  readonly signal: AbortSignal;
  readonly streamingChannel: StreamingChannel;
  /** Default: the run's tracer, else one that records nothing. */
  readonly tracer?: Tracer;
  /** Default: a logger that writes nothing. */
  readonly logger?: Logger;
  readonly secretResolver?: SecretResolverHook;
}

/** A span as the executor uses it. @internal */
export type ToolSpan = AISpan<'tool.execute'>;
