/**
 * Counters, gauges and histograms, and the audit bus. Both belong to one JavaScript thread and are
 * shared by all subpaths and all registries in it; worker threads have their own.
 *
 * @packageDocumentation
 */
export {
  _getToolAuditListenerCountForTesting,
  _resetToolAuditListenersForTesting,
  createRegisteredEvent,
  emitToolAudit,
  onToolAudit,
} from './bus.js';
export {
  getCounterForTesting,
  getHistogramForTesting,
  incrementCounter,
  observeHistogram,
  resetCountersForTesting,
  setGauge,
  snapshotCounters,
} from './counters.js';
export type {
  CounterSnapshot,
  MetricLabels,
  RegisteredEventOptions,
  ToolAuditAction,
  ToolAuditActor,
  ToolAuditDecision,
  ToolAuditEvent,
  ToolAuditListener,
} from './types.js';
