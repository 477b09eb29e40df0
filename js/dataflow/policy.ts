/**
 * The flow policy: may data go into this sink?
 *
 * @packageDocumentation
 */
import { native } from '../binding.js';
import type { NativeFlowPolicy } from '../../native/binding.js';
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
const FLOWS = ['untrusted-to-sink', 'derived-untrusted-to-sink', 'lethal-trifecta'] as const;

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
  const { mode, guardTrifecta = true, derivedTaint } = config;
  const declassified = [...(config.declassifySinks ?? [])].filter((name) => typeof name === 'string');
  let engine: NativeFlowPolicy | undefined;
  return {
    mode,
    evaluate(e) {
      engine ??= new (native().NativeFlowPolicy)(
        String(mode),
        derivedTaint === 'strict',
        Boolean(guardTrifecta),
        declassified,
      );
      const { sourceKinds } = e;
      const sink = [String(e.toolName), String(e.sideEffectClass), e.sinkKind === 'assistant-output'] as const;
      const taint = (e.carriesUntrustedVerbatim ? 1 : 0) | (e.untrustedSeen ? 2 : 0) | (e.sensitiveSeen ? 4 : 0);
      const decision = engine.evaluate(...sink, taint);
      const action = ACTIONS[decision & 3];
      const flow = FLOWS[decision >>> 2];
      if (action === undefined || flow === undefined) return { action: 'allow' };
      const sources = sourceKinds.length === 0 ? undefined : sourceKinds.join(', ');
      return { action, flow, reason: native().flowReason(decision >>> 2, ...sink, sources), sourceKinds };
    },
  };
}
