/**
 * The string unions and records shared by every room (spec 01 section 2).
 *
 * @packageDocumentation
 */
import type { MODEL_HINTS } from './values.js';
import type { TOOL_RETURN_BRAND } from './tool-return.js';
import type { Message, MessageContent } from './message.js';
import type { RunContext } from './run.js';
import type { SecretValue } from './secret.js';
import type { Logger, Tracer } from './tracing.js';

/** The isolation a tool asks for. Advisory for tools that run in process. */
export type SandboxPolicy = 'none' | 'sandboxed' | 'isolated' | 'docker';
/** How a tool relates to the agent's memory; chooses the memory guard. */
export type MemoryGuardTier = 'pure' | 'side-effecting-no-memory' | 'memory-aware' | 'unknown' | 'untrusted';
/** What running the tool does to the world. The last two are "writers" and data-flow sinks. */
export type SideEffectClass = 'pure' | 'read-only' | 'side-effecting' | 'external-stateful';
/** What happens to a tool's result text before the model reads it. */
export type InboundSanitizationPolicy =
  | 'pass-through'
  | 'detect-and-flag'
  | 'detect-and-strip'
  | 'detect-and-wrap'
  | 'detect-and-strip-and-wrap';
/** How a result over its token cap is bounded. */
export type TruncationStrategy = 'middle' | 'tail' | 'spill-to-file' | 'summarize';
/** Where a tool came from, reduced to how far its output is trusted. */
export type ToolTrustClass =
  | 'first-party-built-in'
  | 'first-party-user-defined'
  | 'skill-trusted'
  | 'skill-untrusted'
  | 'mcp-derived'
  | 'web-search'
  | 'channel-inbound';
/** How confidential a tool's data is. */
export type Sensitivity = 'public' | 'internal' | 'secret';
/** A model tier a tool prefers. */
export type ModelHint = (typeof MODEL_HINTS)[number];
/** The twelve ways a call can fail. */
export type ToolErrorKind =
  | 'approval_denied'
  | 'sandbox_violation'
  | 'timeout'
  | 'invalid_input'
  | 'invalid_output'
  | 'execution_failed'
  | 'unknown_tool'
  | 'aborted'
  | 'inbound_sanitization_blocked'
  | 'dataflow_policy_blocked'
  | 'capability_blocked'
  | 'rate_limited';
/** What the model may do about a failure. */
export type RecoveryHint = 'retry_later' | 'check_input' | 'try_alternative' | 'report_to_user';
/** The state of a run. */
export type RunStatus = 'running' | 'completed' | 'failed' | 'aborted' | 'awaiting_approval';
/** Why a model turn ended. */
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'aborted';
/** The status of a span. */
export type SpanStatus = 'ok' | 'error' | 'cancelled';
/** Log levels, lowest first. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';
/** Who wrote a message. */
export type MessageRole = 'system' | 'user' | 'assistant' | 'tool';

/** Where a tool was registered from. */
export type ToolSource =
  | { readonly kind: 'first-party' }
  | { readonly kind: 'built-in'; readonly subsystem: string }
  | { readonly kind: 'skill'; readonly skillName: string; readonly trustLevel: 'trusted' | 'untrusted' }
  | { readonly kind: 'mcp'; readonly serverIdentity: string }
  | { readonly kind: 'web-search'; readonly providerName: string };

/** A provider's model, by duck type. */
export interface ProviderLike {
  readonly name: string;
  readonly modelId: string;
}
/** An exact model a tool prefers. */
export type ModelSpec = ProviderLike | { readonly provider: ProviderLike; readonly model: string };

/** One issue of a failed validation. */
export interface ZodLikeIssue {
  readonly path: ReadonlyArray<PropertyKey>;
  readonly message: string;
}
/** The error side of `safeParse`. */
export interface ZodLikeError<_I = unknown> {
  readonly name: string;
  readonly message: string;
  readonly issues: ReadonlyArray<ZodLikeIssue>;
}
/** What `safeParse` returns. */
export type ZodLikeSafeParseResult<O, I = unknown> =
  | { readonly success: true; readonly data: O }
  | { readonly success: false; readonly error: ZodLikeError<I> };
/**
 * The schema shape every room works with: satisfied by zod 3, zod 4 and anything with `parse` and
 * `safeParse`. The two phantom fields carry the types and never exist at run time.
 */
export interface ZodLikeSchema<TOutput = unknown, TInput = unknown> {
  parse(data: unknown): TOutput;
  safeParse(data: unknown): ZodLikeSafeParseResult<TOutput, TInput>;
  readonly _output?: TOutput;
  readonly _input?: TInput;
}

/** What a tool may return instead of a bare output: parts for the model and taint that widens the label. */
export interface ToolReturn<TOutput = unknown> {
  readonly [TOOL_RETURN_BRAND]?: true;
  readonly output: TOutput;
  readonly contentParts?: ReadonlyArray<MessageContent>;
  readonly taint?: ToolReturnTaint;
}
/** Flags that may widen, never narrow, the provenance of a result. */
export interface ToolReturnTaint {
  readonly untrusted?: boolean;
  readonly sensitive?: boolean;
  readonly sourceKind?: string;
}

/** A worked example; validated when the tool is registered. */
export interface ToolExample<TInput = unknown, TOutput = unknown> {
  readonly input: TInput;
  readonly output: TOutput | ToolReturn<TOutput>;
  readonly comment?: string;
}

/** A piece of output a tool streams while it runs. */
export type ContentChunk =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'json-delta'; readonly path: string; readonly value: unknown }
  | { readonly kind: 'image'; readonly data: Uint8Array; readonly mediaType: string };

/** The secrets a tool may ask for, checked against its `secretsAllowed`. */
export interface ToolSecretsAccessor {
  /** Resolves with the secret; rejects when it is missing or not allowed. */
  require(key: string, options?: { readonly optional?: false }): Promise<SecretValue>;
  /** Resolves with the secret, or null when it is missing; rejects when it is not allowed. */
  require(key: string, options: { readonly optional: true }): Promise<SecretValue | null>;
}

/** What `execute` and the callbacks of a tool receive beside the input. Frozen. */
export interface ToolExecutionContext<TDeps = unknown> {
  readonly toolCallId: string;
  readonly runContext: RunContext<TDeps>;
  /** Aborts on cancellation of the run and on this call's time-out. */
  readonly signal: AbortSignal;
  readonly tracer: Tracer;
  readonly logger: Logger;
  readonly secrets: ToolSecretsAccessor;
  /** Reports progress; does nothing unless the tool declares `streamingHint`. */
  reportProgress(current: number, total?: number, message?: string): void;
  /** Streams a chunk; does nothing unless the tool declares `streamingHint`. */
  streamContent(chunk: ContentChunk): void;
}

/** A tool as its author declares it. */
export interface Tool<TInput = unknown, TOutput = unknown, TDeps = unknown> {
  /** 1 to 128 characters of `[A-Za-z0-9._-]`. */
  readonly name: string;
  readonly description: string;
  /** Validates the model's arguments; `TInput` is its parsed output, defaults applied. */
  readonly inputSchema: ZodLikeSchema<TInput>;
  /** Checks the output; its transforms are not applied. */
  readonly outputSchema?: ZodLikeSchema<TOutput>;
  readonly needsApproval?:
    | boolean
    | ((input: TInput, ctx: ToolExecutionContext<TDeps>) => boolean | Promise<boolean>);
  readonly sandboxPolicy?: SandboxPolicy;
  readonly tags?: ReadonlyArray<string>;
  /** Absent means `parallel`. */
  readonly executionMode?: 'parallel' | 'sequential';
  /** Keys `ctx.secrets` may read. Absent or empty: none. */
  readonly secretsAllowed?: ReadonlyArray<string>;
  readonly sensitivity?: Sensitivity;
  readonly memoryGuardTier?: MemoryGuardTier;
  readonly inboundSanitization?: InboundSanitizationPolicy;
  /** Block the result on any injection hit. Absent means false. */
  readonly failClosed?: boolean;
  /** Withhold the tool from the model until a search finds it. */
  readonly defer_loading?: boolean;
  /** Cap of the result in tokens; 0 turns it off. Default 16384. */
  readonly maxResultTokens?: number;
  readonly truncationStrategy?: TruncationStrategy;
  readonly examples?: ReadonlyArray<ToolExample<TInput, TOutput>>;
  readonly examplesEagerlyRendered?: boolean;
  readonly sideEffectClass?: SideEffectClass;
  readonly idempotencyKey?: (input: TInput, ctx: ToolExecutionContext<TDeps>) => string | Promise<string>;
  readonly streamingHint?: true;
  readonly preferredModel?: ModelHint | ModelSpec;
  execute(
    input: TInput,
    ctx: ToolExecutionContext<TDeps>,
  ): Promise<TOutput | ToolReturn<TOutput> | undefined>;
}

/**
 * Any tool, for collections: a `Tool<A, B>` is assignable to it whatever A and B are.
 */
// `any` is the point of this alias: the predicate fields make `Tool` invariant in its input.
// oxlint-disable-next-line no-explicit-any
export type AnyTool<TDeps = unknown> = Tool<any, any, TDeps>;

/** A tool after registration: the author's fields plus what the registry worked out. Frozen. */
export type ResolvedTool<TInput = unknown, TOutput = unknown, TDeps = unknown> = Tool<
  TInput,
  TOutput,
  TDeps
> & {
  readonly __trustClass: ToolTrustClass;
  readonly __source: ToolSource;
  readonly __effectiveDeferLoading: boolean;
  readonly __sideEffectClass: SideEffectClass;
  readonly __hasIdempotencyKey: boolean;
  readonly __streamingHint: boolean;
  readonly __exampleCount: number;
  readonly __preferredModel?: ModelHint | ModelSpec;
};

/** A call the model made. */
export interface ToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: unknown;
}
/** Where the rest of a bounded result is. */
export interface ResultHandle {
  readonly uri: string;
  readonly kind: 'spill-file' | 'resource-link';
  readonly preview: string;
  readonly bytes?: number;
  readonly mediaType?: string;
  readonly producerTrustClass?: ToolTrustClass;
}
/** A successful outcome. Has no `kind` key. */
export interface ToolResult<O = unknown> {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: O;
  readonly contentParts?: ReadonlyArray<MessageContent>;
  readonly durationMs: number;
  readonly resultHandle?: ResultHandle;
}
/** A failed outcome. Has no `output` key. */
export interface ToolError {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly kind: ToolErrorKind;
  readonly message: string;
  readonly cause?: unknown;
  readonly hint?: string;
  readonly recoverable?: boolean;
  readonly recoveryHint?: RecoveryHint;
}
/** Success or failure; tell them apart with `'kind' in outcome`. */
export type ToolOutcome<O = unknown> = ToolResult<O> | ToolError;
/** A request for approval. */
export interface ToolApproval {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: unknown;
  readonly reason?: string;
  /** ISO 8601, UTC. */
  readonly requestedAt: string;
  readonly mode?: 'ask' | 'defer';
  readonly subRunToolCallId?: string;
}
/** One finished call. Frozen, as are its `call` and `outcome`. */
export interface CompletedToolCall<O = unknown> {
  readonly call: ToolCall;
  readonly outcome: ToolOutcome<O>;
  readonly stepNumber: number;
}

/** Counts tokens of whole messages. Not the counter of `ferrule/result`, which is synchronous. */
export interface TokenCounter {
  readonly id: string;
  readonly version: string;
  count(messages: ReadonlyArray<Message>): Promise<number>;
  countText(text: string): Promise<number>;
}

/** Code handed to a sandbox. */
export type SandboxCode =
  | { readonly kind: 'source'; readonly source: string; readonly filename?: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'handler'; readonly module: string; readonly export: string };
/** How a sandbox runs it. Times in milliseconds, memory in MiB. */
export interface SandboxRunOptions<I = unknown> {
  readonly input: I;
  readonly timeoutMs?: number;
  readonly maxMemoryMb?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly allowNetwork?: boolean;
  readonly allowFs?: boolean;
  readonly signal?: AbortSignal;
}
/** Why a sandbox run failed. */
export type SandboxErrorKind =
  | 'timeout'
  | 'memory-exceeded'
  | 'sandbox-violation'
  | 'aborted'
  | 'execution-failed';
/** What a sandbox answers; faults are `ok: false`, never rejections. */
export type SandboxResult<O = unknown> =
  | { readonly ok: true; readonly output: O; readonly durationMs: number }
  | {
      readonly ok: false;
      readonly error: { readonly kind: SandboxErrorKind; readonly message: string; readonly cause?: unknown };
      readonly durationMs: number;
    };
/** What the executor needs of a sandbox. */
export interface Sandbox {
  readonly id: string;
  run<I = unknown, O = unknown>(code: SandboxCode, opts: SandboxRunOptions<I>): Promise<SandboxResult<O>>;
}

/** The events of one call, in the order they are emitted. */
export type ToolExecuteEvent =
  | { readonly type: 'tool.execute.start'; readonly toolCallId: string; readonly toolName?: string }
  | {
      readonly type: 'tool.execute.progress';
      readonly toolName: string;
      readonly toolCallId: string;
      readonly current: number;
      readonly total?: number;
      readonly message?: string;
      readonly stepNumber: number;
      readonly ts: number;
    }
  | {
      readonly type: 'tool.execute.partial';
      readonly toolName: string;
      readonly toolCallId: string;
      readonly chunk: ContentChunk;
      readonly chunkIndex: number;
      readonly stepNumber: number;
      readonly ts: number;
    }
  | {
      readonly type: 'tool.execute.end';
      readonly toolCallId: string;
      readonly toolName?: string;
      readonly result: unknown;
      readonly durationMs: number;
    }
  | {
      readonly type: 'tool.execute.error';
      readonly toolCallId: string;
      readonly toolName?: string;
      readonly error: ToolError;
    };
