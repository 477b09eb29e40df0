import { native } from '../binding.js';
import type { SandboxKind } from './types.js';

/** How far a tool's code is trusted. */
export type SandboxTrustLevel = 'built-in' | 'user-defined' | 'trusted' | 'untrusted';

/** What an operator asks for. Every part is optional. */
export interface SandboxPolicyOverride {
  /** Another tier. */
  readonly kind?: SandboxKind;
  /** Whether the network is blocked. */
  readonly noNetwork?: boolean;
  /** Whether files are blocked. */
  readonly noFilesystem?: boolean;
  /** Milliseconds. 0 means no limit, which untrusted code never gets. */
  readonly timeoutMs?: number;
  /** MiB. Values that are not positive fall back to the default. */
  readonly maxMemoryMb?: number;
}

/** What {@link resolveSandbox} decides about. */
export interface ResolveSandboxInput {
  /** How far its origin is trusted. */
  readonly trustLevel: SandboxTrustLevel;
  /** For the caller's own records; does not influence the decision. */
  readonly toolName?: string;
  /** For the caller's own records; does not influence the decision. */
  readonly skillName?: string;
  /** What the operator asks for; untrusted code gets no weaker sandbox by it. */
  readonly override?: SandboxPolicyOverride;
}

/** A decision. Frozen. */
export interface ResolvedSandboxPolicy {
  /** The tier. */
  readonly kind: SandboxKind;
  /** No network. */
  readonly noNetwork: boolean;
  /** No files. */
  readonly noFilesystem: boolean;
  /** Milliseconds; 0 means no limit. */
  readonly timeoutMs: number;
  /** MiB; 0 means no limit. */
  readonly maxMemoryMb: number;
  /** Whether something the operator asked for was refused. */
  readonly forced: boolean;
  /** Why, naming the trust level and every part of the override that was refused. */
  readonly reason: string;
}

/** Wall clock per tier in milliseconds, when nobody says otherwise; 0 means none. */
export const DEFAULT_TIMEOUTS_MS: Readonly<Record<'none' | 'worker-threads' | 'isolated-vm' | 'docker', number>> =
  Object.freeze({ none: 0, 'worker-threads': 5000, 'isolated-vm': 5000, docker: 30000 });

/** Memory per tier in MiB, when nobody says otherwise; 0 means no limit. */
export const DEFAULT_MEMORY_LIMITS_MB: Readonly<Record<'none' | 'worker-threads' | 'isolated-vm' | 'docker', number>> =
  Object.freeze({ none: 0, 'worker-threads': 256, 'isolated-vm': 128, docker: 512 });

/**
 * Decides where a tool's code runs and with what limits. Pure and synchronous.
 *
 * Built-in tools run in process whatever is asked. User-defined and trusted tools follow the
 * operator (a worker thread by default). Untrusted code always gets a sandbox without network and
 * file system and with a wall clock: an operator may make it stronger (`isolated-vm`, `docker`), never
 * weaker; what is refused is named in `reason` and sets `forced`.
 *
 * @example
 * ```ts
 * resolveSandbox({ trustLevel: 'untrusted', override: { kind: 'none' } });
 * // { kind: 'worker-threads', noNetwork: true, …, forced: true, reason: '…; override kind=none ignored' }
 * ```
 */
export function resolveSandbox(input: ResolveSandboxInput): ResolvedSandboxPolicy {
  const asked = input.override ?? {};
  // A copy: what the native side makes belongs to another realm where tests run in one of their own.
  return Object.freeze({
    ...native().resolveSandboxPolicy(String(input.trustLevel), {
      ...(asked.kind == null ? {} : { kind: String(asked.kind) }),
      ...(asked.noNetwork == null ? {} : { noNetwork: Boolean(asked.noNetwork) }),
      ...(asked.noFilesystem == null ? {} : { noFilesystem: Boolean(asked.noFilesystem) }),
      ...(asked.timeoutMs == null ? {} : { timeoutMs: Number(asked.timeoutMs) }),
      ...(asked.maxMemoryMb == null ? {} : { maxMemoryMb: Number(asked.maxMemoryMb) }),
    }),
  });
}
