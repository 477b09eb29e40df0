/**
 * Types of the memory guard.
 *
 * @packageDocumentation
 */
import type { MemoryGuardTier } from '../core/index.js';

export type { MemoryGuardTier } from '../core/index.js';

/** Reads the memory regions to be watched. Called as a method of the object it is. */
export interface MemoryRegionReader {
  /** Names, in the order they are read. */
  readonly regions: readonly string[];
  /** The present contents. A rejection rejects the guard's step. */
  read(region: string): Promise<Uint8Array | string>;
}

/** One region's hash: eight lower-case hex digits. */
export interface MemoryRegionDigest {
  readonly region: string;
  readonly hash: string;
}

/** Regions at one moment. Frozen. */
export interface MemorySnapshot {
  readonly digest: readonly MemoryRegionDigest[];
  /** Microseconds of wall time, reading included; fractional. */
  readonly durationUs: number;
}

/** What a verification found. Plain. */
export type GuardVerifyResult =
  | {
      readonly ok: true;
      readonly tier: MemoryGuardTier;
      readonly snapshot: MemorySnapshot;
      /** Microseconds of wall time, reading included; fractional. */
      readonly verifyDurationUs: number;
    }
  | {
      readonly ok: false;
      readonly tier: MemoryGuardTier;
      /** Regions that changed, or operations that were not allowed. */
      readonly mismatched: readonly string[];
      readonly snapshot: MemorySnapshot;
      readonly verifyDurationUs: number;
    };

/** Watches memory around one call. Frozen; both steps return promises and never throw. */
export interface MemoryModificationGuard {
  readonly tier: MemoryGuardTier;
  /** Before the call. */
  snapshot(reader: MemoryRegionReader): Promise<MemorySnapshot>;
  /** After the call. */
  verify(pre: MemorySnapshot, reader: MemoryRegionReader): Promise<GuardVerifyResult>;
}

/** On whose behalf a guard works. */
export interface MemoryGuardActor {
  readonly kind: 'tool' | 'agent' | 'subagent' | 'system';
  readonly id?: string;
  readonly toolName?: string;
  readonly runId?: string;
  readonly sessionId?: string;
}

/** What a row is about. `memory:guard:rolled-back` is for stores that can; no guard here emits it. */
export type MemoryGuardAuditAction =
  | 'memory:modification:before'
  | 'memory:modification:after'
  | 'memory:guard:snapshot'
  | 'memory:guard:verified'
  | 'memory:guard:mismatch'
  | 'memory:guard:exceeded-budget'
  | 'memory:guard:rolled-back';

/** How a row ended. */
export type MemoryGuardDecision = 'success' | 'denied' | 'error';

/** One row. Never a region's contents. */
export interface MemoryGuardAuditEvent {
  readonly action: MemoryGuardAuditAction;
  readonly decision: MemoryGuardDecision;
  /** Epoch milliseconds. */
  readonly ts: number;
  readonly tier: MemoryGuardTier;
  readonly regions?: readonly string[];
  readonly actor?: MemoryGuardActor;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Hears every row. What it throws is contained. */
export type MemoryGuardAuditListener = (event: MemoryGuardAuditEvent) => void;

/** Options of the guard for `memory-aware` tools. */
export interface ApiBoundaryGuardOptions {
  /** Operations the tool may perform. Copied. */
  readonly allowedOps: readonly string[];
  /** What the tool performed; asked once in each verification. Called as a method. */
  observedOps(): readonly string[];
  readonly actor?: MemoryGuardActor;
}

/** Options of the guard for `unknown` tools. */
export interface AuditOnlyGuardOptions {
  readonly actor?: MemoryGuardActor;
}

/** Options of the guard for `untrusted` tools. */
export interface StrictFullGuardOptions {
  readonly actor?: MemoryGuardActor;
  /** How many bytes (UTF-8 for text) a snapshot may read. Default 204800, which is 200 KiB. */
  readonly maxMemoryBytes?: number;
}

/** A tier and the options of its guard. */
export type CreateGuardOptions =
  | { readonly tier: 'pure' | 'side-effecting-no-memory' }
  | ({ readonly tier: 'memory-aware' } & ApiBoundaryGuardOptions)
  | ({ readonly tier: 'unknown' } & AuditOnlyGuardOptions)
  | ({ readonly tier: 'untrusted' } & StrictFullGuardOptions);

/** The kind of guard a tier gets. */
export type MemoryGuardVariant = 'NO_GUARD' | 'API_BOUNDARY_GUARD' | 'AUDIT_ONLY_GUARD' | 'STRICT_FULL_GUARD';

/** What a tool's tier is worked out from. */
export interface ClassifiableTool {
  readonly name?: string;
  readonly tags?: readonly string[];
  readonly secretsAllowed?: readonly string[];
  readonly memoryGuardTier?: MemoryGuardTier;
  readonly trustLevel?: string;
}
