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
  /** Name of the region. */
  readonly region: string;
  /** Digest of its contents. */
  readonly hash: string;
}

/** Regions at one moment. Frozen. */
export interface MemorySnapshot {
  /** One digest for each region, in the order they were read. */
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
  /** Its tier. */
  readonly tier: MemoryGuardTier;
  /** Before the call. */
  snapshot(reader: MemoryRegionReader): Promise<MemorySnapshot>;
  /** After the call. */
  verify(pre: MemorySnapshot, reader: MemoryRegionReader): Promise<GuardVerifyResult>;
}

/** On whose behalf a guard works. */
export interface MemoryGuardActor {
  /** Who acted. */
  readonly kind: 'tool' | 'agent' | 'subagent' | 'system';
  /** Which one. */
  readonly id?: string;
  /** Name of the tool. */
  readonly toolName?: string;
  /** Id of the run. */
  readonly runId?: string;
  /** Id of the session the run belongs to. */
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
  /** What happened. */
  readonly action: MemoryGuardAuditAction;
  /** How it was decided. */
  readonly decision: MemoryGuardDecision;
  /** Epoch milliseconds. */
  readonly ts: number;
  /** Tier of the guard. */
  readonly tier: MemoryGuardTier;
  /** Names of the regions it is about. */
  readonly regions?: readonly string[];
  /** Who did it. */
  readonly actor?: MemoryGuardActor;
  /** More about it, as plain data. */
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
  /** Who stands in the audit events. */
  readonly actor?: MemoryGuardActor;
}

/** Options of the guard for `unknown` tools. */
export interface AuditOnlyGuardOptions {
  /** Who stands in the audit events. */
  readonly actor?: MemoryGuardActor;
}

/** Options of the guard for `untrusted` tools. */
export interface StrictFullGuardOptions {
  /** Who stands in the audit events. */
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
  /** Name of the tool. */
  readonly name?: string;
  /** Free words to sort by. */
  readonly tags?: readonly string[];
  /** Keys of the secrets it may read. */
  readonly secretsAllowed?: readonly string[];
  /** The tier it declares. */
  readonly memoryGuardTier?: MemoryGuardTier;
  /** How far its origin is trusted. */
  readonly trustLevel?: string;
}
