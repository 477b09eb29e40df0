import { join } from 'node:path';
import { builtins } from '../builtins.js';
import { native } from '../binding.js';
import { carried, isLong } from '../inbound/carry.js';
import type { SpillWriteRequest, SpillWriter } from './spill-types.js';

/** Options of {@link createDefaultSpillWriter}. */
export interface DefaultSpillWriterOptions {
  /** The folder for artifacts; readers call theirs `artifactRoot`, a name that is ignored here. Default: `graphorin-spill` in the system's folder for temporary files; `graphorin-spill-<user id>` when that is somebody else's. */
  readonly root?: string;
  /**
   * Age in milliseconds beyond which runs are removed, once, when the writer is made; `false` for
   * never. Default: 7 days.
   */
  readonly startupSweepTtlMs?: number | false;
}

/** Where artifacts go that no folder was named for. On a machine of several users only one of them can have the plain name. */
function defaultRoot(): string {
  const root = join(builtins.os().tmpdir(), 'graphorin-spill');
  const user = process.getuid?.();
  if (user === undefined) return root;
  try {
    const there = builtins.fs().lstatSync(root, { throwIfNoEntry: false });
    return there === undefined || (there.isDirectory() && there.uid === user) ? root : `${root}-${user}`;
  } catch {
    return root;
  }
}

/** 7 days. */
const DEFAULT_SPILL_SWEEP_TTL_MS = 604_800_000;
const SWEEP_DEFAULT_ROOT_EVERY_MS = 60_000;
const MAX_SIDECAR = 65_536;

/** A writer of ours, for the path that scans and writes in one trip. */
interface Own {
  readonly root: string;
  readonly write: SpillWriter['write'];
}
const own = new WeakMap<object, Own>();
let defaultRootSweptAt = Number.NEGATIVE_INFINITY;

/** Rejections of the binding as plain errors. */
async function plainErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Error(error instanceof Error ? error.message : String(error));
  }
}

/** The sidecar's text, or undefined for an artifact nobody said anything about. */
function sidecarText(request: SpillWriteRequest, flagged: boolean | undefined): string | undefined {
  const { producerTrustClass, producerSource, sensitivityTier } = request;
  if (producerTrustClass === undefined && sensitivityTier === undefined) return undefined;
  const rest = {
    ...(sensitivityTier === undefined ? {} : { sensitivity: sensitivityTier }),
    ...(flagged === true ? { imperativePatternsPresent: true } : {}),
  };
  const classOnly = producerTrustClass === undefined ? {} : { producerTrustClass };
  try {
    const text = JSON.stringify({
      ...classOnly,
      ...(producerSource === undefined ? {} : { source: producerSource }),
      ...rest,
    });
    if (text.length <= MAX_SIDECAR) return text;
  } catch {
    // A source that is no JSON must not cost the artifact its class.
  }
  return JSON.stringify({ ...classOnly, ...rest });
}

interface Spilled {
  readonly path: string;
  readonly bytes: number;
  readonly flagged: boolean | undefined;
}

async function spill(
  root: string,
  request: SpillWriteRequest,
  scan?: { readonly patterns: number; readonly budgetMs: number },
): Promise<Spilled> {
  const sidecar = sidecarText(request, request.imperativePatternsPresent);
  const flaggedSidecar = scan && sidecarText(request, true);
  const body = String(request.body);
  const asked = {
    root,
    runId: String(request.runId),
    callId: String(request.toolCallId),
    extension: String(request.extension),
    budgetMs: scan?.budgetMs ?? 0,
    ...(sidecar === undefined ? {} : { sidecar }),
    ...(flaggedSidecar === undefined ? {} : { sidecarWhenFlagged: flaggedSidecar }),
    ...(scan === undefined ? {} : { patterns: scan.patterns }),
  };
  const written = await plainErrors(native().spillText(isLong(body) ? await carried(body) : body, asked));
  return { path: join(root, written.run, written.file), bytes: written.bytes, flagged: written.flagged };
}

/**
 * Scans and writes in one trip off the JavaScript thread, when `writer` is one of ours and nobody
 * replaced its `write`; undefined otherwise.
 *
 * @internal
 */
export function spillScanned(
  writer: SpillWriter,
  request: SpillWriteRequest,
  scan: { readonly patterns: number; readonly budgetMs: number },
): Promise<Spilled> | undefined {
  const known = own.get(writer);
  if (known === undefined || known.write !== writer.write || known.root !== writer.artifactRoot) {
    return undefined;
  }
  return spill(known.root, request, scan);
}

/**
 * A writer that keeps artifacts in files: `<root>/<runId>/<toolCallId>.<extension>`, folders 0700,
 * files 0600.
 *
 * - Ids of `[A-Za-z0-9._-]` are names as they are; any other id becomes a safe name made of a digest.
 * - A write that is cut short at any point leaves no artifact, or a complete one with its taint.
 * - A root or run folder that is a link, or another user's, is refused; links are never followed.
 * - `clear(runId)` removes that run's folder and resolves when there is none. `sweep(ttlMs)` removes
 *   runs nobody wrote to for that long.
 *
 * Making one is synchronous and starts one sweep in the background, whose errors are ignored.
 *
 * @example
 * const writer = createDefaultSpillWriter({ root: '/var/lib/app/results' });
 * await writer.clear?.(runId);
 */
export function createDefaultSpillWriter(options: DefaultSpillWriterOptions = {}): SpillWriter {
  const root = options.root ?? defaultRoot();
  if (typeof root !== 'string') {
    throw new TypeError(`createDefaultSpillWriter: 'root' must be the path of a folder (got ${typeof root}).`);
  }
  const writer: SpillWriter = {
    artifactRoot: root,
    write: async (request) => {
      const { path, bytes } = await spill(root, request);
      return { path, bytes };
    },
    clear: async (runId) => plainErrors(native().clearSpilled(root, String(runId))),
    sweep: async (ttlMs) => plainErrors(native().sweepSpilled(root, Number(ttlMs), Date.now())),
  };
  own.set(writer, { root, write: writer.write });
  const ttl = options.startupSweepTtlMs ?? DEFAULT_SPILL_SWEEP_TTL_MS;
  if (ttl !== false && sweepIsDue(options.root === undefined && options.startupSweepTtlMs === undefined)) {
    void native()
      .sweepSpilled(root, ttl)
      .catch(() => undefined);
  }
  return writer;
}

/** Executors come by the thousand, each with a writer: the shared root is swept once a minute. */
function sweepIsDue(byDefault: boolean): boolean {
  if (!byDefault) return true;
  const now = performance.now();
  if (now - defaultRootSweptAt < SWEEP_DEFAULT_ROOT_EVERY_MS) return false;
  defaultRootSweptAt = now;
  return true;
}
