/**
 * The guards, one for each way of watching.
 *
 * @packageDocumentation
 */
import { native } from '../binding.js';
import type { MemoryGuardTier } from '../core/index.js';
import { emitMemoryGuardAudit } from './audit.js';
import { guardVariantForTier } from './classify.js';
import { xxhash32 } from './hash.js';
import type {
  ApiBoundaryGuardOptions,
  AuditOnlyGuardOptions,
  CreateGuardOptions,
  MemoryGuardActor,
  MemoryGuardAuditAction,
  MemoryGuardAuditEvent,
  MemoryGuardDecision,
  MemoryModificationGuard,
  MemoryRegionDigest,
  MemoryRegionReader,
  MemorySnapshot,
  StrictFullGuardOptions,
} from './types.js';

const DEFAULT_MAX_MEMORY_BYTES = 204_800;

/** A strict snapshot read more than it may. The call it was for must not run. */
export class MemoryGuardBudgetExceededError extends Error {
  /** Always `memory-guard-budget-exceeded`. */
  readonly kind = 'memory-guard-budget-exceeded';
  /** Bytes read so far, the region that went over included. */
  readonly observedBytes: number;
  /** Bytes allowed. */
  readonly maxBytes: number;

  constructor(observedBytes: number, maxBytes: number) {
    super(`Memory guard: regions hold at least ${observedBytes} bytes, more than the budget of ${maxBytes}.`);
    this.name = 'MemoryGuardBudgetExceededError';
    this.observedBytes = observedBytes;
    this.maxBytes = maxBytes;
  }
}

interface Row {
  readonly regions?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Emits the rows of one guard. */
function reporter(tier: MemoryGuardTier, actor: MemoryGuardActor | undefined) {
  return (action: MemoryGuardAuditAction, decision: MemoryGuardDecision, row: Row = {}): void => {
    const event: MemoryGuardAuditEvent = {
      action,
      decision,
      ts: Date.now(),
      tier,
      ...(row.regions !== undefined && { regions: row.regions }),
      ...(actor !== undefined && { actor }),
      ...(row.metadata !== undefined && { metadata: Object.freeze(row.metadata) }),
    };
    emitMemoryGuardAudit(event);
  };
}

function snapshotOf(digest: MemoryRegionDigest[], durationUs: number): MemorySnapshot {
  return Object.freeze({ digest: Object.freeze(digest), durationUs });
}

/** Reads and hashes every region, one after another. `onRead` may refuse. */
async function readRegions(
  reader: MemoryRegionReader,
  onRead?: (region: string, content: Uint8Array | string) => void,
): Promise<{ readonly snapshot: MemorySnapshot; readonly regions: readonly string[] }> {
  const start = performance.now();
  const digest: MemoryRegionDigest[] = [];
  for (const region of reader.regions) {
    const content = await reader.read(region);
    onRead?.(region, content);
    digest.push(Object.freeze({ region, hash: xxhash32(content) }));
  }
  const snapshot = snapshotOf(digest, (performance.now() - start) * 1000);
  return { snapshot, regions: Object.freeze(digest.map(({ region }) => region)) };
}

/**
 * A guard that watches nothing: empty snapshots, always ok, no rows, the reader untouched.
 *
 * @param tier `pure` or `side-effecting-no-memory`; handed through.
 */
export function createNoGuard(tier: MemoryGuardTier): MemoryModificationGuard {
  return Object.freeze<MemoryModificationGuard>({
    tier,
    snapshot: async () => snapshotOf([], 0),
    verify: async (pre) => ({ ok: true, tier, snapshot: pre, verifyDurationUs: 0 }),
  });
}

/**
 * The guard of `memory-aware` tools: compares the operations a tool performed with those it may. No
 * region is read.
 */
export function createApiBoundaryGuard(opts: ApiBoundaryGuardOptions): MemoryModificationGuard {
  const tier = 'memory-aware';
  const allowed = new Set(opts.allowedOps);
  const report = reporter(tier, opts.actor);
  return Object.freeze<MemoryModificationGuard>({
    tier,
    async snapshot() {
      report('memory:guard:snapshot', 'success');
      return snapshotOf([], 0);
    },
    async verify(pre) {
      const start = performance.now();
      const observed = [...opts.observedOps()];
      const mismatched = observed.filter((operation) => !allowed.has(operation));
      const verifyDurationUs = (performance.now() - start) * 1000;
      if (mismatched.length === 0) {
        report('memory:guard:verified', 'success', { metadata: { observed } });
        return { ok: true, tier, snapshot: pre, verifyDurationUs };
      }
      report('memory:guard:mismatch', 'denied', { regions: mismatched, metadata: { observed } });
      return { ok: false, tier, mismatched, snapshot: pre, verifyDurationUs };
    },
  });
}

interface HashGuardOptions {
  readonly tier: 'unknown' | 'untrusted';
  readonly actor: MemoryGuardActor | undefined;
  /** Bytes a snapshot may read; undefined for no limit, and no count in the rows. */
  readonly maxBytes: number | undefined;
}

function createHashGuard({ tier, actor, maxBytes }: HashGuardOptions): MemoryModificationGuard {
  const strict = tier === 'untrusted';
  const report = reporter(tier, actor);
  return Object.freeze<MemoryModificationGuard>({
    tier,
    async snapshot(reader) {
      let totalBytes = 0;
      const { snapshot, regions } = await readRegions(reader, (region, content) => {
        if (maxBytes === undefined) return;
        totalBytes += typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
        if (totalBytes <= maxBytes) return;
        report('memory:guard:exceeded-budget', 'denied', {
          regions: [region],
          metadata: { totalBytes, maxMemoryBytes: maxBytes },
        });
        throw new MemoryGuardBudgetExceededError(totalBytes, maxBytes);
      });
      const { durationUs } = snapshot;
      const bytes = maxBytes === undefined ? {} : { totalBytes };
      const regionCount = regions.length;
      report('memory:modification:before', 'success', { metadata: { regionCount, regions, durationUs, ...bytes } });
      report('memory:guard:snapshot', 'success', { metadata: { regionCount, durationUs, ...bytes } });
      return snapshot;
    },
    async verify(pre, reader) {
      const { snapshot } = await readRegions(reader);
      const verifyDurationUs = snapshot.durationUs;
      const { changed, unmatched } = compare(pre, snapshot);
      const clean = changed.length === 0;
      const decision = strict && !clean ? 'denied' : 'success';
      const metadata = {
        mismatchCount: changed.length,
        regionCount: snapshot.digest.length,
        verifyDurationUs,
        ...unmatched,
      };
      report('memory:modification:after', decision, clean ? { metadata } : { regions: changed, metadata });
      if (clean) report('memory:guard:verified', 'success');
      else report('memory:guard:mismatch', decision, { regions: changed });
      return clean || !strict
        ? { ok: true, tier, snapshot, verifyDurationUs }
        : { ok: false, tier, mismatched: changed, snapshot, verifyDurationUs };
    },
  });
}

/**
 * Regions whose hash differs. Regions that came or went are no mismatch, but are told in the row.
 */
function compare(pre: MemorySnapshot, post: MemorySnapshot) {
  const flat = ({ digest }: MemorySnapshot): string[] => digest.flatMap(({ region, hash }) => [String(region), String(hash)]);
  const drift = native().memoryDrift(flat(pre), flat(post));
  const named = ({ digest }: MemorySnapshot, places: readonly number[]) => Array.from(places, (at) => digest[at]!.region);
  const { added, vanished } = drift;
  return {
    changed: named(post, drift.changed),
    unmatched: {
      ...(added.length > 0 && { added: named(post, added) }),
      ...(vanished.length > 0 && { vanished: named(pre, vanished) }),
    },
  };
}

/** The guard of `unknown` tools: hashes every region before and after, reports changes, always ok. */
export function createAuditOnlyGuard(opts: AuditOnlyGuardOptions = {}): MemoryModificationGuard {
  return createHashGuard({ tier: 'unknown', actor: opts.actor, maxBytes: undefined });
}

/**
 * The guard of `untrusted` tools: hashes every region before and after, not ok on any change. A
 * snapshot that reads more than the budget rejects with {@link MemoryGuardBudgetExceededError}; what
 * is exactly the budget passes. Verification has no budget.
 */
export function createStrictFullGuard(opts: StrictFullGuardOptions = {}): MemoryModificationGuard {
  const { actor, maxMemoryBytes = DEFAULT_MAX_MEMORY_BYTES } = opts;
  return createHashGuard({ tier: 'untrusted', actor, maxBytes: maxMemoryBytes });
}

/**
 * The guard of a tier. Throws an `Error` that names an unknown tier.
 *
 * @example
 * const guard = createGuard({ tier: 'untrusted', maxMemoryBytes: 1_000_000 });
 * const before = await guard.snapshot(reader);
 * await runTheTool();
 * const { ok } = await guard.verify(before, reader);
 */
export function createGuard(opts: CreateGuardOptions): MemoryModificationGuard {
  switch (opts.tier) {
    case 'pure':
    case 'side-effecting-no-memory':
      return createNoGuard(opts.tier);
    case 'memory-aware':
      return createApiBoundaryGuard(opts);
    case 'unknown':
      return createAuditOnlyGuard(opts);
    case 'untrusted':
      return createStrictFullGuard(opts);
    default:
      guardVariantForTier((opts as { tier: MemoryGuardTier }).tier);
      throw new Error('unreachable');
  }
}
