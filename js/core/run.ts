import type { Message } from './message.js';
import type { AISpan, Tracer } from './tracing.js';
import type { CompletedToolCall, FinishReason, RunStatus, ToolApproval, ToolCall } from './types.js';

/** Tokens and cost. Mutable. */
export interface Usage {
  promptTokens: number;
  completionTokens: number;
  reasoningTokens?: number;
  cachedReadTokens?: number;
  cacheWriteTokens?: number;
  totalTokens: number;
  cost?: { amount: number; currency: string };
}
/** A fresh, empty {@link Usage}. */
export function zeroUsage(): Usage {
  return { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
}
/** Usage of one model. */
export interface ModelUsage extends Usage {
  readonly modelId: string;
  readonly callCount: number;
}
/** Usage at one moment. */
export interface UsageSnapshot {
  readonly total: Usage;
  readonly byModel: readonly ModelUsage[];
}
/** Adds usage up over a run. */
export interface UsageAccumulator {
  readonly total: Usage;
  readonly byModel: ReadonlyMap<string, ModelUsage>;
  add(modelId: string, usage: Usage): void;
  reset(): void;
  snapshot(): UsageSnapshot;
}
/** Usage per model with the number of attempts. */
export interface RunStateUsageByModel {
  readonly [modelId: string]: Usage & { readonly attemptCount: number };
}
/** What a run has seen of untrusted and sensitive data. */
export interface RunTaintSummary {
  readonly untrustedSeen: boolean;
  readonly sensitiveSeen: boolean;
  readonly untrustedSourceKinds: ReadonlyArray<string>;
  readonly spanTileHashes?: ReadonlyArray<string>;
}
/** What guards said of one turn. */
export interface RunTurnVerdict {
  readonly guardrail?: 'block' | 'rewrite';
  readonly lateralLeak?: boolean;
  readonly dataflowFlags?: ReadonlyArray<string>;
}
/** An item of an agent's own list. */
export interface TodoItem {
  readonly id: string;
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
}
/** A sub-agent's run that waits. */
export interface PendingSubRun {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly targetAgentName: string;
  readonly state: RunState;
}
/** Why a run failed. */
export interface RunError {
  readonly message: string;
  readonly code: string;
  readonly details?: unknown;
}
/** A change of agent within a run. */
export interface HandoffRecord {
  readonly fromAgentId: string;
  readonly toAgentId: string;
  readonly stepNumber: number;
  readonly at: string;
  readonly reason?: string;
  readonly inputFilter?: { readonly kind: string; readonly meta?: Readonly<Record<string, unknown>> };
  readonly secretsInheritance?: 'inherit-allowlist' | 'isolated' | 'forward-explicit';
  readonly inheritedSecrets?: ReadonlyArray<string>;
  readonly secretsOverrideReason?: string;
}
/** One step of a run. */
export interface RunStep {
  readonly stepNumber: number;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly usage?: Usage;
  readonly toolCalls: ReadonlyArray<CompletedToolCall>;
  readonly agentId: string;
  readonly finishReason?: FinishReason;
  readonly providerResponse?: {
    readonly modelId: string;
    readonly text?: string;
    readonly toolCalls?: ReadonlyArray<ToolCall>;
  };
}
/** The state of a run, as its owner changes it. */
export interface RunState {
  readonly id: string;
  readonly agentId: string;
  readonly currentAgentId: string;
  readonly sessionId: string;
  readonly userId?: string;
  status: RunStatus;
  readonly steps: RunStep[];
  readonly messages: Message[];
  readonly pendingApprovals: ToolApproval[];
  readonly handoffs: HandoffRecord[];
  readonly usage: Usage;
  usageByModel?: RunStateUsageByModel;
  taintSummary?: RunTaintSummary;
  promotedTools?: ReadonlyArray<string>;
  verdicts?: Record<string, RunTurnVerdict>;
  todos?: ReadonlyArray<TodoItem>;
  pendingSubRuns?: PendingSubRun[];
  readonly startedAt: string;
  finishedAt?: string;
  error?: RunError;
}
/** {@link RunState} as everybody else sees it. */
export interface ReadonlyRunState {
  readonly id: string;
  readonly agentId: string;
  readonly currentAgentId: string;
  readonly sessionId: string;
  readonly userId?: string;
  readonly status: RunStatus;
  readonly steps: ReadonlyArray<RunStep>;
  readonly messages: ReadonlyArray<Message>;
  readonly pendingApprovals: ReadonlyArray<ToolApproval>;
  readonly handoffs: ReadonlyArray<HandoffRecord>;
  readonly usage: Readonly<Usage>;
  readonly usageByModel?: RunStateUsageByModel;
  readonly taintSummary?: RunTaintSummary;
  readonly promotedTools?: ReadonlyArray<string>;
  readonly verdicts?: Readonly<Record<string, RunTurnVerdict>>;
  readonly todos?: ReadonlyArray<TodoItem>;
  readonly pendingSubRuns?: ReadonlyArray<PendingSubRun>;
  readonly startedAt: string;
  readonly finishedAt?: string;
  readonly error?: RunError;
}
/**
 * What a run hands to everything that works for it. The executor reads `runId`, `sessionId`,
 * `agentId`, `signal`, `tracer` and `span`, and passes the object on by reference.
 */
export interface RunContext<TDeps = unknown> {
  readonly runId: string;
  readonly sessionId: string;
  readonly userId?: string;
  readonly agentId: string;
  readonly deps: TDeps;
  readonly tracer: Tracer;
  readonly signal: AbortSignal;
  readonly usage: UsageAccumulator;
  readonly stepNumber: number;
  readonly messages: ReadonlyArray<Message>;
  readonly state: ReadonlyRunState;
  readonly span?: AISpan;
}
