/**
 * The flow policy: may data go into this sink?
 *
 * @packageDocumentation
 */
import { native } from '../binding.js';
import type { Sensitivity, SideEffectClass } from '../core/index.js';

/** `off` looks at nothing, `shadow` reports, `enforce` stops. */
export type DataFlowMode = 'off' | 'shadow' | 'enforce';
/**
 * What was found: a copy of untrusted text going out; anything going out after untrusted text was
 * seen (strict derivation only); or going out after both untrusted text and sensitive data were seen.
 */
export type TaintFlowKind = 'untrusted-to-sink' | 'lethal-trifecta' | 'derived-untrusted-to-sink';

/** How a policy decides. Read once, when the policy is made. */
export interface DataFlowPolicyConfig {
  /** Whether findings are enforced or only reported. */
  readonly mode: DataFlowMode;
  /** Whether untrusted text and sensitive data together taint every sink. Default true. */
  readonly guardTrifecta?: boolean;
  /** Names of tools that may receive such data: their findings are reported, never stopped. */
  readonly declassifySinks?: readonly string[];
  /** `strict`: untrusted text alone taints every later sink. Default `off`. */
  readonly derivedTaint?: 'off' | 'strict';
  /** Not read here: for whoever derives the labels. */
  readonly sensitiveTiers?: readonly Sensitivity[];
  /** Not read here: for whoever makes the ledger. */
  readonly treatPiiAsSensitive?: boolean;
  /** Not read here: for whoever makes the ledger. */
  readonly minSpanLength?: number;
}

/** What is known when a call is about to run, or an answer about to leave. */
export interface DataFlowEvaluation {
  /** The tool that is about to run. */
  readonly toolName: string;
  /** What a call may change. */
  readonly sideEffectClass: SideEffectClass;
  /** `assistant-output` makes it a sink whatever the side effects. Default `tool`. */
  readonly sinkKind?: 'tool' | 'assistant-output';
  /** A piece of untrusted text is in the arguments. */
  readonly carriesUntrustedVerbatim: boolean;
  /** Untrusted text was read earlier in the run. */
  readonly untrustedSeen: boolean;
  /** Sensitive data was read earlier in the run. */
  readonly sensitiveSeen: boolean;
  /** Where the untrusted text came from; for the reason. */
  readonly sourceKinds: readonly string[];
}

/** What a decision other than allow tells. Metadata only, never a piece of the data. */
export interface DataFlowFinding {
  /** Which rule it breaks. */
  readonly flow: TaintFlowKind;
  /** The same for people. */
  readonly reason: string;
  /** The array that was passed in. */
  readonly sourceKinds: readonly string[];
}

/** The decision. */
export type DataFlowDecision =
  | { readonly action: 'allow' }
  | ({ readonly action: 'flag' | 'declassify' | 'block' } & DataFlowFinding);

/** A policy. A plain object; `evaluate` works detached. */
export interface DataFlowPolicy {
  /** Whether findings are enforced or only reported. */
  readonly mode: DataFlowMode;
  /** Decides about one sink, synchronously. */
  evaluate(e: DataFlowEvaluation): DataFlowDecision;
}

const ACTIONS = [undefined, 'flag', 'declassify', 'block'] as const;
const FLOWS = [undefined, 'untrusted-to-sink', 'derived-untrusted-to-sink', 'lethal-trifecta'] as const;

const MEANING: Readonly<Record<TaintFlowKind, string>> = {
  'untrusted-to-sink': 'its arguments carry untrusted text word for word',
  'derived-untrusted-to-sink': 'untrusted text was read before it and its arguments may derive from that',
  'lethal-trifecta': 'both untrusted text and sensitive data were read before it',
};

function reasonOf(flow: TaintFlowKind, e: DataFlowEvaluation): string {
  const kinds = e.sourceKinds.length === 0 ? 'untrusted' : e.sourceKinds.join(', ');
  const sink = e.sinkKind === 'assistant-output' ? 'assistant output' : `${e.sideEffectClass} sink`;
  return `${flow}: ${sink} '${e.toolName}' was reached and ${MEANING[flow]} (sources: ${kinds})`;
}

const bit = (value: unknown, place: number): number => (value ? 1 << place : 0);

/**
 * Makes a flow policy.
 *
 * Only sinks are judged: tools that are side-effecting or external-stateful, and assistant output.
 * The first flow that applies decides: a verbatim copy, then strict derivation, then the trifecta.
 * A tool in `declassifySinks` gets `declassify`; otherwise `shadow` gives `flag` and `enforce`
 * `block`. An unknown mode blocks.
 *
 * @example
 * const policy = createDataFlowPolicy({ mode: 'enforce' });
 * const decision = policy.evaluate({
 *   toolName: 'send_email',
 *   sideEffectClass: 'external-stateful',
 *   carriesUntrustedVerbatim: ledger.inspectArgs(JSON.stringify(args)).carriesUntrustedVerbatim,
 *   untrustedSeen: ledger.untrustedSeen,
 *   sensitiveSeen: ledger.sensitiveSeen,
 *   sourceKinds: ledger.untrustedSourceKinds,
 * });
 */
export function createDataFlowPolicy(config: DataFlowPolicyConfig): DataFlowPolicy {
  const { mode } = config;
  const modeNumber = mode === 'off' ? 0 : mode === 'shadow' ? 1 : 2;
  const fixed = bit(config.derivedTaint === 'strict', 4) | bit(config.guardTrifecta ?? true, 5);
  const declassified: ReadonlySet<string> = new Set(config.declassifySinks);
  return {
    mode,
    evaluate(e) {
      const { sideEffectClass: effects } = e;
      const sink =
        e.sinkKind === 'assistant-output' || effects === 'side-effecting' || effects === 'external-stateful';
      if (!sink || modeNumber === 0) return { action: 'allow' };
      const facts =
        fixed |
        bit(sink, 0) |
        bit(e.carriesUntrustedVerbatim, 1) |
        bit(e.untrustedSeen, 2) |
        bit(e.sensitiveSeen, 3) |
        bit(declassified.has(e.toolName), 6);
      const decision = native().flowDecision(modeNumber, facts);
      const action = ACTIONS[decision & 3];
      const flow = FLOWS[decision >> 2];
      if (action === undefined || flow === undefined) return { action: 'allow' };
      return { action, flow, reason: reasonOf(flow, e), sourceKinds: e.sourceKinds };
    },
  };
}
