// Types only: compiled by `npm run test:types`, never run. The contracts of spec 01 section 2 that are no
// values, key by key; the lines that start with dashes are what `__test__/sections.spec.ts` reads as titles.
import type {
  CompletedToolCall, ContentChunk, FinishReason, InboundSanitizationPolicy, LogLevel, MemoryGuardTier, Message, MessageContent, MessageRole,
  ModelHint, ReadonlyRunState, RecoveryHint, ResolvedTool, ResultHandle, RunContext, RunState, RunStatus, SandboxPolicy, Sensitivity,
  SideEffectClass, SpanStatus, Tool, ToolApproval, ToolCall, ToolError, ToolErrorKind, ToolExample, ToolExecutionContext, ToolResult,
  ToolReturn, ToolSource, ToolTrustClass, TruncationStrategy,
} from 'ferrule/core';
import type { ToolSpec } from 'ferrule/builder';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <_T extends true>(): void => {};

// --- 2.1 string unions ---------------------------------------------------------------------------
same<Same<SandboxPolicy, 'none' | 'sandboxed' | 'isolated' | 'docker'>>();
same<Same<MemoryGuardTier, 'pure' | 'side-effecting-no-memory' | 'memory-aware' | 'unknown' | 'untrusted'>>();
same<Same<SideEffectClass, 'pure' | 'read-only' | 'side-effecting' | 'external-stateful'>>();
same<Same<InboundSanitizationPolicy, 'pass-through' | 'detect-and-flag' | 'detect-and-strip' | 'detect-and-wrap' | 'detect-and-strip-and-wrap'>>();
same<Same<TruncationStrategy, 'middle' | 'tail' | 'spill-to-file' | 'summarize'>>();
same<Same<ToolTrustClass, 'first-party-built-in' | 'first-party-user-defined' | 'skill-trusted' | 'skill-untrusted' | 'mcp-derived' | 'web-search' | 'channel-inbound'>>();
same<Same<Sensitivity, 'public' | 'internal' | 'secret'>>();
same<Same<ModelHint, 'fast' | 'balanced' | 'smart'>>();
same<Same<ToolErrorKind, 'approval_denied' | 'sandbox_violation' | 'timeout' | 'invalid_input' | 'invalid_output' | 'execution_failed' | 'unknown_tool' | 'aborted' | 'inbound_sanitization_blocked' | 'dataflow_policy_blocked' | 'capability_blocked' | 'rate_limited'>>();
same<Same<RecoveryHint, 'retry_later' | 'check_input' | 'try_alternative' | 'report_to_user'>>();
same<Same<RunStatus, 'running' | 'completed' | 'failed' | 'aborted' | 'awaiting_approval'>>();
same<Same<FinishReason, 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'aborted'>>();
same<Same<SpanStatus, 'ok' | 'error' | 'cancelled'>>();
same<Same<LogLevel, 'trace' | 'debug' | 'info' | 'warn' | 'error'>>();
same<Same<MessageRole, 'system' | 'user' | 'assistant' | 'tool'>>();

// --- 2.2 sources ---------------------------------------------------------------------------------
same<Same<ToolSource['kind'], 'first-party' | 'built-in' | 'skill' | 'mcp' | 'web-search'>>();
const sources: ToolSource[] = [
  { kind: 'first-party' }, { kind: 'built-in', subsystem: 's' }, { kind: 'skill', skillName: 's', trustLevel: 'trusted' },
  { kind: 'mcp', serverIdentity: 's' }, { kind: 'web-search', providerName: 'p' },
];
// @ts-expect-error a skill says how far it is trusted
sources.push({ kind: 'skill', skillName: 's' });

// --- 2.3 the fields of a tool ----------------------------------------------------------------------
type Fields =
  | 'name' | 'description' | 'inputSchema' | 'outputSchema' | 'needsApproval' | 'sandboxPolicy' | 'tags' | 'executionMode' | 'secretsAllowed'
  | 'sensitivity' | 'memoryGuardTier' | 'inboundSanitization' | 'failClosed' | 'defer_loading' | 'maxResultTokens' | 'truncationStrategy'
  | 'examples' | 'examplesEagerlyRendered' | 'sideEffectClass' | 'idempotencyKey' | 'streamingHint' | 'preferredModel' | 'execute';
same<Same<keyof Tool, Fields>>();

// --- 2.4 an example --------------------------------------------------------------------------------
const example: ToolExample<{ q: string }, number> = { input: { q: 'x' }, output: 1 };
const branded: ToolExample<{ q: string }, number> = { input: { q: 'x' }, output: { output: 1 } as ToolReturn<number>, comment: 'c' };
// @ts-expect-error an example shows what comes out
const half: ToolExample<{ q: string }, number> = { input: { q: 'x' } };
void [example, branded, half];

// --- 2.5 what the registry adds -----------------------------------------------------------------------
type Added = '__trustClass' | '__source' | '__effectiveDeferLoading' | '__sideEffectClass' | '__hasIdempotencyKey' | '__streamingHint' | '__exampleCount' | '__preferredModel';
same<Same<keyof ResolvedTool, Fields | Added>>();

// --- 2.10 calls and outcomes ----------------------------------------------------------------------------
same<Same<keyof ToolCall, 'toolCallId' | 'toolName' | 'args'>>();
same<Same<keyof ToolResult, 'toolCallId' | 'toolName' | 'output' | 'contentParts' | 'durationMs' | 'resultHandle'>>();
same<Same<keyof ResultHandle, 'uri' | 'kind' | 'preview' | 'bytes' | 'mediaType' | 'producerTrustClass'>>();
same<Same<keyof ToolError, 'toolCallId' | 'toolName' | 'kind' | 'message' | 'cause' | 'hint' | 'recoverable' | 'recoveryHint'>>();
same<Same<keyof ToolApproval, 'toolCallId' | 'toolName' | 'args' | 'reason' | 'requestedAt' | 'mode' | 'subRunToolCallId'>>();
same<Same<keyof CompletedToolCall, 'call' | 'outcome' | 'stepNumber'>>();
same<Same<ContentChunk['kind'], 'text' | 'json-delta' | 'image'>>();

// --- 2.11 the context of a call ---------------------------------------------------------------------------
same<Same<keyof ToolExecutionContext, 'toolCallId' | 'runContext' | 'signal' | 'tracer' | 'logger' | 'secrets' | 'reportProgress' | 'streamContent'>>();

// --- 2.12 runs ----------------------------------------------------------------------------------------------
same<Same<keyof RunState, keyof ReadonlyRunState>>();
declare const state: RunState;
const readable: ReadonlyRunState = state;
void readable;
type RunFields = 'runId' | 'sessionId' | 'userId' | 'agentId' | 'deps' | 'tracer' | 'signal' | 'usage' | 'stepNumber' | 'messages' | 'state' | 'span';
same<Same<keyof RunContext, RunFields>>();

// --- 2.13 messages ------------------------------------------------------------------------------------------
same<Same<Message['role'], MessageRole>>();
same<Same<MessageContent['type'], 'text' | 'image' | 'audio' | 'file' | 'reasoning'>>();

// --- 3.1 what tool() takes ---------------------------------------------------------------------------------
same<Same<keyof ToolSpec, Fields>>();
