/**
 * `ferrule/dataflow`: taint labels, the ledger of a run, and the flow policy.
 *
 * @packageDocumentation
 */
export { deriveTaintLabel, isUntrustedTrustClass } from './labels.js';
export type { TaintLabel, TaintLabelInput } from './labels.js';
export { createTaintLedger } from './ledger.js';
export type {
  ArgsTaintProbe,
  RecordedLabel,
  TaintEncoding,
  TaintLedger,
  TaintLedgerOptions,
  TaintLedgerSnapshot,
} from './ledger.js';
export { containsPii } from './pii.js';
export type { PiiPattern } from './pii.js';
export { createDataFlowPolicy } from './policy.js';
export type {
  DataFlowDecision,
  DataFlowEvaluation,
  DataFlowFinding,
  DataFlowMode,
  DataFlowPolicy,
  DataFlowPolicyConfig,
  TaintFlowKind,
} from './policy.js';
