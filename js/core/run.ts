import type { Message } from './message.js';
import type { AISpan, Tracer } from './tracing.js';
import type { CompletedToolCall, FinishReason, RunStatus, ToolApproval, ToolCall } from './types.js';

/** Tokens and cost. Mutable. */
export interface Usage {
  /** Tokens the model read. */
  promptTokens: number;
  /** Tokens the model wrote. */
  completionTokens: number;
  /** Of those, tokens of reasoning. */
  reasoningTokens?: number;
  /** Prompt tokens that came from a cache. */
  cachedReadTokens?: number;
  /** Prompt tokens that went into a cache. */
  cacheWriteTokens?: number;
  /** All tokens. */
  totalTokens: number;
  /** What it cost. */
  cost?: { amount: number; currency: string };
}
/** A fresh, empty {@link Usage}. */
export function zeroUsage(): Usage {
  return { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
}
/** Usage of one model. */
export interface ModelUsage extends Usage {
  /** The model. */
  readonly modelId: string;
  /** How often it was called. */
  readonly callCount: number;
}
/** Usage at one moment. */
export interface UsageSnapshot {
  /** Of all models. */
  readonly total: Usage;
  /** Of each model. */
  readonly byModel: readonly ModelUsage[];
}
/** Adds usage up over a run. */
export interface UsageAccumulator {
  /** Of all models so far. */
  readonly total: Usage;
  /** Of each model so far, by its id. */
  readonly byModel: ReadonlyMap<string, ModelUsage>;
  /** Adds the usage of one call. */
  add(modelId: string, usage: Usage): void;
  /** Back to zero. */
  reset(): void;
  /** A copy of the figures now. */
  snapshot(): UsageSnapshot;
}
/** Usage per model with the number of attempts. */
export interface RunStateUsageByModel {
  readonly [modelId: string]: Usage & { readonly attemptCount: number };
}
/** What a run has seen of untrusted and sensitive data. */
export interface RunTaintSummary {
  /** Untrusted text has been read. */
  readonly untrustedSeen: boolean;
  /** Secret data has been read. */
  readonly sensitiveSeen: boolean;
  /** Where the untrusted text came from. */
  readonly untrustedSourceKinds: ReadonlyArray<string>;
  /** Digests of the tracked text, to go on with in another process. */
  readonly spanTileHashes?: ReadonlyArray<string>;
}
/** What guards said of one turn. */
export interface RunTurnVerdict {
  /** What a guardrail did with the turn. */
  readonly guardrail?: 'block' | 'rewrite';
  /** A guard saw data leave sideways, from one agent or tool to another. */
  readonly lateralLeak?: boolean;
  /** Flows that the data-flow guard flagged. */
  readonly dataflowFlags?: ReadonlyArray<string>;
}
/** An item of an agent's own list. */
export interface TodoItem {
  /** Id of the item. */
  readonly id: string;
  /** What is to be done. */
  readonly content: string;
  /** How far it is. */
  readonly status: 'pending' | 'in_progress' | 'completed';
}
/** A sub-agent's run that waits. */
export interface PendingSubRun {
  /** Id of the call, as the model gave it. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly toolName: string;
  /** The agent that waits. */
  readonly targetAgentName: string;
  /** Its state, to go on from. */
  readonly state: RunState;
}
/** Why a run failed. */
export interface RunError {
  /** What went wrong, for people. */
  readonly message: string;
  /** What went wrong, for programs. */
  readonly code: string;
  /** More about it. */
  readonly details?: unknown;
}
/** A change of agent within a run. */
export interface HandoffRecord {
  /** The agent that hands over. */
  readonly fromAgentId: string;
  /** The agent that takes over. */
  readonly toAgentId: string;
  /** Number of the step within the run. */
  readonly stepNumber: number;
  /** When, ISO 8601. */
  readonly at: string;
  /** Why, where it was said. */
  readonly reason?: string;
  /** What of the conversation the other agent sees. */
  readonly inputFilter?: { readonly kind: string; readonly meta?: Readonly<Record<string, unknown>> };
  /** Which secrets the other agent may use. */
  readonly secretsInheritance?: 'inherit-allowlist' | 'isolated' | 'forward-explicit';
  /** Keys of the secrets that were passed on. */
  readonly inheritedSecrets?: ReadonlyArray<string>;
  /** Why that differs from the rule. */
  readonly secretsOverrideReason?: string;
}
/** One step of a run. */
export interface RunStep {
  /** Number of the step within the run. */
  readonly stepNumber: number;
  /** When it began, ISO 8601. */
  readonly startedAt: string;
  /** When it ended, ISO 8601. Absent while it runs. */
  readonly endedAt?: string;
  /** Tokens and cost. */
  readonly usage?: Usage;
  /** Calls that finished in it. */
  readonly toolCalls: ReadonlyArray<CompletedToolCall>;
  /** Id of the agent. */
  readonly agentId: string;
  /** Why the model stopped. */
  readonly finishReason?: FinishReason;
  /** What the model said. */
  readonly providerResponse?: {
    readonly modelId: string;
    readonly text?: string;
    readonly toolCalls?: ReadonlyArray<ToolCall>;
  };
}
/** The state of a run, as its owner changes it. */
export interface RunState {
  /** Id of the run. */
  readonly id: string;
  /** The agent that the run began with. */
  readonly agentId: string;
  /** The agent that has the word now. */
  readonly currentAgentId: string;
  /** Id of the session the run belongs to. */
  readonly sessionId: string;
  /** Id of the user, where there is one. */
  readonly userId?: string;
  /** Where the run stands. */
  status: RunStatus;
  /** Its steps, oldest first. */
  readonly steps: RunStep[];
  /** The conversation so far. */
  readonly messages: Message[];
  /** Calls that wait for somebody's approval. */
  readonly pendingApprovals: ToolApproval[];
  /** Changes of agent, oldest first. */
  readonly handoffs: HandoffRecord[];
  /** Tokens and cost. */
  readonly usage: Usage;
  /** Tokens and cost of each model. */
  usageByModel?: RunStateUsageByModel;
  /** What it has seen of untrusted and secret data. */
  taintSummary?: RunTaintSummary;
  /** Deferred tools that a search made callable. */
  promotedTools?: ReadonlyArray<string>;
  /** What guards said, by turn. */
  verdicts?: Record<string, RunTurnVerdict>;
  /** The agent's own list. */
  todos?: ReadonlyArray<TodoItem>;
  /** Runs of other agents that wait. */
  pendingSubRuns?: PendingSubRun[];
  /** When it began, ISO 8601. */
  readonly startedAt: string;
  /** When it ended, ISO 8601. Absent while it runs. */
  finishedAt?: string;
  /** Why it failed, if it did. */
  error?: RunError;
}
/** {@link RunState} as everybody else sees it. */
export interface ReadonlyRunState {
  /** Id of the run. */
  readonly id: string;
  /** The agent that the run began with. */
  readonly agentId: string;
  /** The agent that has the word now. */
  readonly currentAgentId: string;
  /** Id of the session the run belongs to. */
  readonly sessionId: string;
  /** Id of the user, where there is one. */
  readonly userId?: string;
  /** Where the run stands. */
  readonly status: RunStatus;
  /** Its steps, oldest first. */
  readonly steps: ReadonlyArray<RunStep>;
  /** The conversation so far. */
  readonly messages: ReadonlyArray<Message>;
  /** Calls that wait for somebody's approval. */
  readonly pendingApprovals: ReadonlyArray<ToolApproval>;
  /** Changes of agent, oldest first. */
  readonly handoffs: ReadonlyArray<HandoffRecord>;
  /** Tokens and cost. */
  readonly usage: Readonly<Usage>;
  /** Tokens and cost of each model. */
  readonly usageByModel?: RunStateUsageByModel;
  /** What it has seen of untrusted and secret data. */
  readonly taintSummary?: RunTaintSummary;
  /** Deferred tools that a search made callable. */
  readonly promotedTools?: ReadonlyArray<string>;
  /** What guards said, by turn. */
  readonly verdicts?: Readonly<Record<string, RunTurnVerdict>>;
  /** The agent's own list. */
  readonly todos?: ReadonlyArray<TodoItem>;
  /** Runs of other agents that wait. */
  readonly pendingSubRuns?: ReadonlyArray<PendingSubRun>;
  /** When it began, ISO 8601. */
  readonly startedAt: string;
  /** When it ended, ISO 8601. Absent while it runs. */
  readonly finishedAt?: string;
  /** Why it failed, if it did. */
  readonly error?: RunError;
}
/**
 * What a run hands to everything that works for it. The executor reads `runId`, `sessionId`,
 * `agentId`, `signal`, `tracer` and `span`, and passes the object on by reference.
 */
export interface RunContext<TDeps = unknown> {
  /** Id of the run. */
  readonly runId: string;
  /** Id of the session the run belongs to. */
  readonly sessionId: string;
  /** Id of the user, where there is one. */
  readonly userId?: string;
  /** The agent whose turn it is. */
  readonly agentId: string;
  /** What the app gives to its tools: connections, clients, settings. */
  readonly deps: TDeps;
  /** Opens the spans of the run. */
  readonly tracer: Tracer;
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
  /** Adds up what the run costs. */
  readonly usage: UsageAccumulator;
  /** Number of the step within the run. */
  readonly stepNumber: number;
  /** The conversation so far. */
  readonly messages: ReadonlyArray<Message>;
  /** The run, to look at. */
  readonly state: ReadonlyRunState;
  /** The span that the spans of calls belong below. */
  readonly span?: AISpan;
}
