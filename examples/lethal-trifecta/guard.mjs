// How an app ties the data-flow engine to the executor: one ledger a run, a label on every output, a
// probe and a decision before every sink.
import { createDataFlowPolicy, createTaintLedger, deriveTaintLabel } from 'ferrule/dataflow';

export function createRunGuard() {
  const policy = createDataFlowPolicy({ mode: 'enforce' });
  const ledger = createTaintLedger();
  return {
    ledger,
    guard: {
      // After each tool output.
      record({ trustClass, source, sensitivity, taintOverride, outputText }) {
        const label = deriveTaintLabel({ trustClass, source, sensitivity });
        // An override widens; it never narrows.
        const untrusted = label.untrusted || taintOverride?.untrusted === true;
        const sensitive = label.sensitive || taintOverride?.sensitive === true;
        const sourceKind = taintOverride?.sourceKind ?? label.sourceKind;
        ledger.recordOutput({ ...label, untrusted, sensitive, sourceKind }, outputText);
      },
      // Before a sink runs.
      inspect({ toolName, sideEffectClass, args }) {
        const probe = ledger.inspectArgs(JSON.stringify(args));
        return policy.evaluate({
          toolName,
          sideEffectClass,
          carriesUntrustedVerbatim: probe.carriesUntrustedVerbatim,
          untrustedSeen: ledger.untrustedSeen,
          sensitiveSeen: ledger.sensitiveSeen,
          sourceKinds: ledger.untrustedSourceKinds,
        });
      },
    },
  };
}
