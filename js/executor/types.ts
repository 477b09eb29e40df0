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
   * Asks for the decision on one call.
   *
   * @param call the call as the model made it.
   * @param approval the request; its `args` are those of the call after repair and hooks, before defaults and
   *   transforms of the schema.
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
  /** The call, as the model made it. */
  readonly call: ToolCall;
  /** The arguments after validation. */
  readonly validatedInput: unknown;
  /** Name of the tool. */
  readonly toolName: string;
  /** What a call may change. */
  readonly sideEffectClass: SideEffectClass;
  /** How far the output of the tool is trusted. */
  readonly trustClass: ToolTrustClass;
  /** How confidential the data is. */
  readonly sensitivity?: Sensitivity;
  /** What the run hands to everything that works for it. */
  readonly runContext: RunContext<TDeps>;
}
/** What it answers. Anything but the four words fails closed. */
export interface PermissionHookResult {
  /** Go on; refuse; or refuse until a person has agreed (`ask`, `defer`) and the call comes again, `preApproved`. */
  readonly decision: 'allow' | 'deny' | 'ask' | 'defer';
  /** New arguments; validated before they are used. */
  readonly updatedInput?: unknown;
  /** Why. */
  readonly reason?: string;
}
/** Runs after validation and before approval, on every call. */
export type PermissionHook = (
  input: PermissionHookInput,
) => PermissionHookResult | Promise<PermissionHookResult>;

/** What an argument policy judges by. */
export interface ToolArgumentPolicyFacts {
  /** Name of the tool. */
  readonly toolName: string;
  /** What a call may change. */
  readonly sideEffectClass: SideEffectClass;
  /** The tool's sensitivity is `secret`. */
  readonly sensitive: boolean;
  /** How far the output of the tool is trusted. */
  readonly trustClass: ToolTrustClass;
  /** The validated input. */
  readonly args: unknown;
}
/** Judges calls by their arguments. All of it synchronous. */
export interface ToolArgumentPolicyGuard {
  /** Allows or forbids a call. */
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
  /** Name of the tool. */
  readonly toolName: string;
  /** What a call may change. */
  readonly sideEffectClass: SideEffectClass;
  /** How far the output of the tool is trusted. */
  readonly trustClass: ToolTrustClass;
  /** How confidential the data is. */
  readonly sensitivity?: Sensitivity;
  /** Where it came from. */
  readonly source?: ToolSource;
  /** The arguments as they will be executed, before the schema's transforms. */
  readonly args: unknown;
  /** What the run hands to everything that works for it. */
  readonly runContext: RunContext;
}
/** What it is told of a text that the model will read. */
export interface DataFlowRecordInput {
  /** Name of the tool. */
  readonly toolName: string;
  /** How far the output of the tool is trusted. */
  readonly trustClass: ToolTrustClass;
  /** How confidential the data is. */
  readonly sensitivity?: Sensitivity;
  /** Where it came from. */
  readonly source?: ToolSource;
  /** The text the model will read. */
  readonly outputText: string;
  /** Flags that the tool itself set. */
  readonly taintOverride?: ToolReturnTaint;
  /** What the run hands to everything that works for it. */
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
  /** Told of each success, and of what an untrusted tool said when it failed, so that it knows what the model has read. */
  record(input: DataFlowRecordInput): void;
}

/** Finds secrets for `ctx.secrets`. */
export interface SecretResolverHook {
  /** Resolves with the secret, or null when there is none of that key. */
  resolve(key: string): Promise<SecretValue | null>;
}

/** The isolation a call was given. */
export interface ExecutorSandboxPolicy {
  /** The tier: `none`, `worker-threads`, `isolated-vm` or `docker`. */
  readonly kind: string;
  /** No network for it. */
  readonly noNetwork: boolean;
  /** No files for it. */
  readonly noFilesystem: boolean;
  /** Milliseconds; 0 means none. */
  readonly timeoutMs: number;
  /** MiB; 0 means none. */
  readonly maxMemoryMb: number;
  /** Something the tool asked for was refused. */
  readonly forced: boolean;
  /** Why this tier. */
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
  /** How the call ended, to be given again. */
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
  /** Judges calls by their arguments. */
  readonly argumentPolicy?: ToolArgumentPolicyGuard;
  /** Runs after validation and before approval, on every call. */
  readonly permissionHook?: PermissionHook;
  /** One attempt to mend invalid arguments. */
  readonly repair?: ToolRepairHook;
  /** Counts tokens for the result cap. Default: four characters a token, rounded up. */
  readonly tokenCounter?: TokenCounter;
  /** For `summarize`; absent, that strategy becomes `middle`. */
  readonly summarizer?: ResultSummarizer;
  /** Where `spill-to-file` writes. Default: below the system's temporary folder. */
  readonly spill?: SpillWriter;
  /** Finds secrets for `ctx.secrets`. Absent: there are none. */
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
  /** Makes the memory guard of a tier; null watches nothing. */
  readonly memoryGuardFactory?: (tier: MemoryGuardTier) => MemoryModificationGuard | null;
  /** Without it guards take no snapshots. */
  readonly memoryRegionReader?: MemoryRegionReader;
  /** Watches where data comes from and where it goes. */
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
  /** The calls of one turn; results come in their order. */
  readonly calls: Iterable<ToolCall>;
}
/** The options of `executeOne`. */
export interface ExecuteOneOptions<TDeps = unknown> extends CommonExecuteOptions<TDeps> {
  /** The call. */
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
  /** The tool that is called. */
  readonly tool: ResolvedTool<unknown, unknown, TDeps>;
  /** Id of the call, as the model gave it. */
  readonly toolCallId: string;
  /** What the run hands to everything that works for it. */
  readonly runContext: RunContext<TDeps>;
  /** Aborts the call. */
  readonly signal: AbortSignal;
  /** Takes what the tool streams. */
  readonly streamingChannel: StreamingChannel;
  /** Default: the run's tracer, else one that records nothing. */
  readonly tracer?: Tracer;
  /** Default: a logger that writes nothing. */
  readonly logger?: Logger;
  /** Finds secrets. Absent: there are none. */
  readonly secretResolver?: SecretResolverHook;
}

/** A span as the executor uses it. @internal */
export type ToolSpan = AISpan<'tool.execute'>;
