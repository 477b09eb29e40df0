import { emitToolAudit, hasAuditListeners } from '../audit/bus.js';
import type { ToolAuditAction, ToolAuditDecision, ToolAuditEvent } from '../audit/index.js';
import { countAgain, countEach, countFirst, nativeRealm } from '../binding.js';
import type { ToolRegistryOptions } from './types.js';

/**
 * Where a registry's audit rows and counts go. Rows are built only when somebody takes them; while
 * nobody does, counts may be saved up, since nothing can look between two of them.
 *
 * @internal
 */
export class Sink {
  readonly #options: ToolRegistryOptions;
  readonly #emit: ((event: ToolAuditEvent) => void) | undefined;
  readonly #saved: string[] = [];
  #depth = 0;

  constructor(options: ToolRegistryOptions) {
    this.#options = options;
    this.#emit = options.emitAudit ?? undefined;
  }

  /** Whether a row would reach anybody. */
  get isHeard(): boolean {
    return this.#emit !== undefined || hasAuditListeners();
  }

  /** Counts one under a ready-made key, `name` or `name{label=value}` with sorted labels. */
  count(key: string): void {
    if (this.#depth > 0 && !this.isHeard) {
      this.#saved.push(key);
      return;
    }
    this.#write();
    nativeRealm().increment(key, 1);
  }

  /** {@link Sink.count} for a key that names no tool, of which there are few. */
  countOften(key: string): void {
    if (countAgain(key)) return;
    // The order of first writes is the order of the snapshot.
    this.#write();
    countFirst(key);
  }

  /** Runs work that counts several keys, crossing to the native side once. */
  saving<T>(work: () => T): T {
    this.#depth++;
    try {
      return work();
    } finally {
      this.#depth--;
      this.#write();
    }
  }

  #write(): void {
    if (this.#saved.length === 0) return;
    countEach(this.#saved);
    this.#saved.length = 0;
  }

  /**
   * Hands over a row; errors of the registry's own `emitAudit` reach the caller. When it turns out to be
   * async, nobody waits for it, and its failure would end the process as an unhandled rejection.
   */
  emit(event: ToolAuditEvent): void {
    if (this.#emit === undefined) {
      emitToolAudit(event);
      return;
    }
    const returned: unknown = this.#emit.call(this.#options, event);
    if (returned instanceof Promise) returned.catch(() => {});
  }

  /** Builds and hands over a row about a tool, if anybody takes it. */
  report(
    action: ToolAuditAction,
    target: string,
    metadata?: () => Record<string, unknown>,
    decision: ToolAuditDecision = 'success',
  ): void {
    if (!this.isHeard) return;
    this.emit({
      action,
      actor: { kind: 'system', id: 'tool-registry' },
      target,
      decision,
      ts: Date.now(),
      ...(metadata === undefined ? {} : { metadata: metadata() }),
    });
  }
}
