import type { ToolSource } from '../core/index.js';
import type { Sink } from './sink.js';
import type { NormaliseWarning } from './types.js';

/**
 * Turns warnings into one counter and one audit row each, once a name (spec 01 section 6.3). The
 * source is no part of "once": a second tool of the name from elsewhere adds nothing new to know.
 *
 * @internal
 */
export class WarningLog {
  readonly #sink: Sink;
  /** The names that were told of, by kind of warning. */
  readonly #given = new Map<string, Set<string>>();

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  /** Forgets what was said. */
  clear(): void {
    this.#given.clear();
  }

  /** Reports what was not yet said. */
  report(warning: NormaliseWarning, source: ToolSource): void {
    const { kind, toolName } = warning;
    const sink = this.#sink;
    switch (kind) {
      case 'classification:missing':
        if (!this.#isNew(kind, toolName)) return;
        sink.countOften(`tool.classification.missing.total{source=${source.kind}}`);
        sink.count(`tool.classification.deferred-default-applied.total{toolName=${toolName}}`);
        sink.report('tool:classification:warn', toolName, () => ({
          kind: 'missing-classification',
          source: source.kind,
          deferredDefaultApplied: true,
        }));
        return;
      case 'sandbox:advisory-inline':
        if (!this.#isNew(kind, toolName)) return;
        sink.count(`tool.sandbox.advisory.total{toolName=${toolName}}`);
        sink.report('tool:classification:warn', toolName, () => ({
          kind: 'sandbox-policy-advisory-inline',
          policy: warning.policy,
          hint: 'The policy is advice only: inline tools run in-process, whatever they declare.',
        }));
        return;
      case 'classification:idempotency-key-missing': {
        const { sideEffectClass } = warning;
        if (!this.#isNew(`${kind}:${sideEffectClass}`, toolName)) return;
        sink.count(
          'tool.classification.idempotency-key-missing.total' +
            `{sideEffectClass=${sideEffectClass},toolName=${toolName}}`,
        );
        sink.report('tool:classification:warn', toolName, () => ({
          kind: 'idempotency-key-missing-for-side-effecting',
          sideEffectClass,
          source: source.kind,
        }));
        return;
      }
      case 'examples:overflow': {
        const { count } = warning;
        if (!this.#isNew(`${kind}:${count}`, toolName)) return;
        sink.count(`tool.examples.overflow.total{toolName=${toolName}}`);
        sink.report('tool:examples:overflow', toolName, () => ({ count }));
        return;
      }
      case 'result:cap-disabled':
        if (!this.#isNew(kind, toolName)) return;
        sink.count(`tool.result.cap-disabled.total{toolName=${toolName}}`);
        sink.report('tool:result:cap-disabled', toolName);
    }
  }

  #isNew(what: string, toolName: string): boolean {
    let names = this.#given.get(what);
    if (names === undefined) this.#given.set(what, (names = new Set()));
    // One look-up: adding what is there changes nothing.
    const before = names.size;
    return names.add(toolName).size > before;
  }
}
