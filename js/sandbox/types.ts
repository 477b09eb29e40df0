import type { SandboxCode, SandboxErrorKind, SandboxResult, SandboxRunOptions } from '../core/index.js';

/** A tier: one of the four built in, or a name of your own. */
export type SandboxKind = 'none' | 'worker-threads' | 'isolated-vm' | 'docker' | (string & {});

/** What a sandbox can hold back. */
export interface SandboxCapabilities {
  /** It can keep code from the network. */
  readonly canBlockNetwork: boolean;
  /** It can keep code from files. */
  readonly canBlockFilesystem: boolean;
  /** It can end code at its time. */
  readonly canEnforceTimeout: boolean;
  /** It can hold code to a limit of memory. */
  readonly canEnforceMemoryLimit: boolean;
}

/**
 * A sandbox: something that runs code and answers with a result. The built-in ones are frozen, and
 * their `run` never throws and never rejects for anything the code does.
 */
export interface SandboxImpl {
  /** Names the sandbox in messages and spans; the built-in ones use their kind. */
  readonly id: string;
  /** Its tier. */
  readonly kind: SandboxKind;
  /** What it can enforce. */
  readonly capabilities: SandboxCapabilities;
  /** Runs the code and answers with its output, or with the kind of failure. */
  run<I = unknown, O = unknown>(code: SandboxCode, opts: SandboxRunOptions<I>): Promise<SandboxResult<O>>;
}

/** Builds the frozen object that every built-in sandbox is. @internal */
export function sandboxImpl(
  kind: 'none' | 'worker-threads' | 'isolated-vm' | 'docker',
  run: (code: SandboxCode, opts: SandboxRunOptions) => Promise<SandboxResult>,
): SandboxImpl {
  const can = kind !== 'none';
  return Object.freeze({
    id: kind,
    kind,
    capabilities: Object.freeze({
      canBlockNetwork: can,
      canBlockFilesystem: can,
      canEnforceTimeout: can,
      canEnforceMemoryLimit: can,
    }),
    // The output's type is the caller's claim; nothing here could check it.
    run: run as SandboxImpl['run'],
  });
}

/** Builds the results of one run, which share its start. @internal */
export interface ResultMaker {
  ok(output: unknown): SandboxResult;
  fail(kind: SandboxErrorKind, message: string, extra?: { readonly cause: unknown }): SandboxResult;
}

/** Starts the clock of a run. @internal */
export function startRun(): ResultMaker {
  const start = performance.now();
  return {
    ok: (output) => ({ ok: true, output, durationMs: performance.now() - start }),
    fail: (kind, message, extra) => ({
      ok: false,
      error: { kind, message, ...extra },
      durationMs: performance.now() - start,
    }),
  };
}

/** The text of a thrown value: the message of an error, otherwise its string. Never throws. @internal */
export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return 'a value that cannot be printed was thrown';
  }
}

/** The `name` of a thrown value, when it has a readable one. @internal */
export function nameOf(thrown: unknown): string | undefined {
  try {
    const name = (thrown as { name?: unknown } | null | undefined)?.name;
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}
