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
  /** Name of the provider. */
  readonly name: string;
  /** Its model. */
  readonly modelId: string;
}
/** An exact model a tool prefers. */
export type ModelSpec = ProviderLike | { readonly provider: ProviderLike; readonly model: string };

/** One issue of a failed validation. */
export interface ZodLikeIssue {
  /** Where in the value, from its root. */
  readonly path: ReadonlyArray<PropertyKey>;
  /** What is wrong there. */
  readonly message: string;
}
/** The error side of `safeParse`. */
export interface ZodLikeError<_I = unknown> {
  /** Name of the error's class. */
  readonly name: string;
  /** All issues as one text. */
  readonly message: string;
  /** Each thing that is wrong. */
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
  /** Returns the parsed value; throws what is wrong with it. */
  parse(data: unknown): TOutput;
  /** Returns the parsed value, or what is wrong with it. */
  safeParse(data: unknown): ZodLikeSafeParseResult<TOutput, TInput>;
  /** Carries the type; not there at run time. */
  readonly _output?: TOutput;
  /** Carries the type; not there at run time. */
  readonly _input?: TInput;
}

/** What a tool may return instead of a bare output: parts for the model and taint that widens the label. */
export interface ToolReturn<TOutput = unknown> {
  /** Set by `toolReturn()`; tells it from an output of the same shape. */
  readonly [TOOL_RETURN_BRAND]?: true;
  /** The output. */
  readonly output: TOutput;
  /** Parts for the model beside the output, such as pictures. */
  readonly contentParts?: ReadonlyArray<MessageContent>;
  /** Flags that widen the provenance of the result. */
  readonly taint?: ToolReturnTaint;
}
/** Flags that may widen, never narrow, the provenance of a result. */
export interface ToolReturnTaint {
  /** The output holds text of strangers. */
  readonly untrusted?: boolean;
  /** The output holds secret data. */
  readonly sensitive?: boolean;
  /** Where it came from, when the tool's own source does not say. */
  readonly sourceKind?: string;
}

/** A worked example; validated when the tool is registered. */
export interface ToolExample<TInput = unknown, TOutput = unknown> {
  /** Arguments; must fit the input schema. */
  readonly input: TInput;
  /** The result; must fit the output schema, if there is one. */
  readonly output: TOutput | ToolReturn<TOutput>;
  /** When one would call it so; also found by a search of deferred tools. */
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
  /** Id of the call, as the model gave it. */
  readonly toolCallId: string;
  /** What the run hands to everything that works for it. */
  readonly runContext: RunContext<TDeps>;
  /** Aborts on cancellation of the run and on this call's time-out. */
  readonly signal: AbortSignal;
  /** Opens spans below the call's. */
  readonly tracer: Tracer;
  /** Writes log lines. */
  readonly logger: Logger;
  /** Secrets the tool was granted. */
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
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** Validates the model's arguments; `TInput` is its parsed output, defaults applied. */
  readonly inputSchema: ZodLikeSchema<TInput>;
  /** Checks the output; its transforms are not applied. */
  readonly outputSchema?: ZodLikeSchema<TOutput>;
  /** Whether somebody has to grant the call first. Absent means false. */
  readonly needsApproval?:
    | boolean
    | ((input: TInput, ctx: ToolExecutionContext<TDeps>) => boolean | Promise<boolean>);
  /** Which sandbox it runs in. Absent: by where the tool came from. */
  readonly sandboxPolicy?: SandboxPolicy;
  /** Free words to sort by. */
  readonly tags?: ReadonlyArray<string>;
  /** Absent means `parallel`. */
  readonly executionMode?: 'parallel' | 'sequential';
  /** Keys `ctx.secrets` may read. Absent or empty: none. */
  readonly secretsAllowed?: ReadonlyArray<string>;
  /** How confidential its results are; those of a `secret` tool are never spilled. */
  readonly sensitivity?: Sensitivity;
  /** How closely the memory guard watches its calls. */
  readonly memoryGuardTier?: MemoryGuardTier;
  /** What happens to its output before a model reads it. Absent: by where the tool came from. */
  readonly inboundSanitization?: InboundSanitizationPolicy;
  /** Block the result on any injection hit. Absent means false. */
  readonly failClosed?: boolean;
  /** Withhold the tool from the model until a search finds it. */
  readonly defer_loading?: boolean;
  /** Cap of the result in tokens; 0 turns it off. Default 16384. */
  readonly maxResultTokens?: number;
  /** How a result over the cap is bounded. Absent means `middle`, which spills structured results. */
  readonly truncationStrategy?: TruncationStrategy;
  /** Up to five worked examples; checked when the tool is registered. */
  readonly examples?: ReadonlyArray<ToolExample<TInput, TOutput>>;
  /** Whether the examples are shown at each step. Absent: unless the tool is deferred. */
  readonly examplesEagerlyRendered?: boolean;
  /** What a call may change. Absent means `external-stateful` for tools of MCP servers, else `side-effecting`. */
  readonly sideEffectClass?: SideEffectClass;
  /** Names a call, so that a repeated one does not run twice, where the executor has an `idempotencyStore`. */
  readonly idempotencyKey?: (input: TInput, ctx: ToolExecutionContext<TDeps>) => string | Promise<string>;
  /** Turns on `reportProgress` and `streamContent`. */
  readonly streamingHint?: true;
  /** The model tier, or the model, that it is best called by. */
  readonly preferredModel?: ModelHint | ModelSpec;
  /** Does the work. May throw: the call then fails with what was thrown. */
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
  /** Id of the call, as the model gave it. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly toolName: string;
  /** Arguments as the model wrote them, not validated. */
  readonly args: unknown;
}
/** Where the rest of a bounded result is. */
export interface ResultHandle {
  /** Names the stored result; `read_result` takes it. */
  readonly uri: string;
  /** A file of ours, or a resource that another reader knows. */
  readonly kind: 'spill-file' | 'resource-link';
  /** What of it was shown to the model. */
  readonly preview: string;
  /** Size of the stored result in bytes. */
  readonly bytes?: number;
  /** MIME type, when it is known. */
  readonly mediaType?: string;
  /** How far the tool that produced it is trusted. */
  readonly producerTrustClass?: ToolTrustClass;
}
/** A successful outcome. Has no `kind` key. */
export interface ToolResult<O = unknown> {
  /** Id of the call, as the model gave it. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly toolName: string;
  /** What the tool returned, or its bounded text. */
  readonly output: O;
  /** Parts for the model beside the text, such as pictures. */
  readonly contentParts?: ReadonlyArray<MessageContent>;
  /** Milliseconds from start to end. */
  readonly durationMs: number;
  /** Where the whole of a bounded result is. */
  readonly resultHandle?: ResultHandle;
}
/** A failed outcome. Has no `output` key. */
export interface ToolError {
  /** Id of the call, as the model gave it. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly toolName: string;
  /** Which of the twelve ways it failed in. */
  readonly kind: ToolErrorKind;
  /** What happened, for the model. */
  readonly message: string;
  /** What was thrown. */
  readonly cause?: unknown;
  /** What to do about it, for the model. */
  readonly hint?: string;
  /** Whether another try may succeed. */
  readonly recoverable?: boolean;
  /** What to do about it, for programs. */
  readonly recoveryHint?: RecoveryHint;
}
/** Success or failure; tell them apart with `'kind' in outcome`. */
export type ToolOutcome<O = unknown> = ToolResult<O> | ToolError;
/** A request for approval. */
export interface ToolApproval {
  /** Id of the call, as the model gave it. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly toolName: string;
  /** The call's arguments after repair and hooks, before defaults and transforms of the schema. */
  readonly args: unknown;
  /** Why it needs approval. */
  readonly reason?: string;
  /** ISO 8601, UTC. */
  readonly requestedAt: string;
  /** Ask at once, or later. */
  readonly mode?: 'ask' | 'defer';
  /** The call of a waiting sub-agent that it belongs to. */
  readonly subRunToolCallId?: string;
}
/** One finished call. Frozen, as are its `call` and `outcome`. */
export interface CompletedToolCall<O = unknown> {
  /** The call, as the model made it. */
  readonly call: ToolCall;
  /** How it ended. */
  readonly outcome: ToolOutcome<O>;
  /** Number of the step it ran in. */
  readonly stepNumber: number;
}

/** Counts tokens of whole messages. Not the counter of `ferrule/result`, which is synchronous. */
export interface TokenCounter {
  /** Name of the counter. */
  readonly id: string;
  /** Version of what it counts by. */
  readonly version: string;
  /** Tokens of messages. */
  count(messages: ReadonlyArray<Message>): Promise<number>;
  /** Tokens of a text. */
  countText(text: string): Promise<number>;
}

/** Code handed to a sandbox. */
export type SandboxCode =
  | { readonly kind: 'source'; readonly source: string; readonly filename?: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'handler'; readonly module: string; readonly export: string };
/** How a sandbox runs it. Times in milliseconds, memory in MiB. */
export interface SandboxRunOptions<I = unknown> {
  /** What the code is given. */
  readonly input: I;
  /** Milliseconds it may take. */
  readonly timeoutMs?: number;
  /** MiB it may use. */
  readonly maxMemoryMb?: number;
  /** Its environment. Absent: empty. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Let it reach the network. Absent: as the tier says. `worker-threads` follows its own option `noNetwork`,
   * which leaves the network open; the tiers behind a wall keep it closed.
   */
  readonly allowNetwork?: boolean;
  /** Let it reach files. Absent: as the tier says; `worker-threads` follows its own `noFilesystem`, open by default. */
  readonly allowFs?: boolean;
  /** Ends the run. */
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
  /** Name of the sandbox, for errors and spans. */
  readonly id: string;
  /** Runs code; a fault is a result, never a rejection. */
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
