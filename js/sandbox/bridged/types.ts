/**
 * The contract of code mode: what a runner is given and what it answers (spec 03 section 7.1).
 */

/** One call a script makes. A fresh object with exactly these two keys. */
export interface BridgedToolCall {
  /** The tool's name, one of `allowedTools`. */
  readonly name: string;
  /** What the script passed as the first argument; undefined when it passed nothing. */
  readonly args: unknown;
}

/**
 * What {@link CodeModeRunner} runs and within which limits. Times are milliseconds, sizes bytes of the
 * encoded value unless the name says otherwise. Every limit is enforced outside the script's process.
 */
export interface BridgedSourceOptions {
  /** Body of a strict async function with the parameter `tools`. Markdown fences and type annotations are tolerated. */
  readonly source: string;
  /** Names the script may call, as `tools.name(args)` or `tools["name"](args)`. */
  readonly allowedTools: ReadonlyArray<string>;
  /**
   * Carries out one call. Runs in the async context `runBridgedSource` was called in. What it throws or
   * rejects with reaches the script as an Error with the same message.
   */
  readonly dispatch: (call: BridgedToolCall) => Promise<unknown>;
  /** Wall clock, start-up included. Default 30000; 0 or less for none. Outcome `timeout`. */
  readonly timeoutMs?: number;
  /** Memory the script may allocate, in MiB. Default 256. Outcome `execution-failed`, "memory limit". */
  readonly maxMemoryMb?: number;
  /** Accepted for compatibility; a script never reaches a network. */
  readonly noNetwork?: boolean;
  /** Accepted for compatibility; a script never reaches a file. */
  readonly noFilesystem?: boolean;
  /** Ends the run at once. Outcome `aborted`. */
  readonly signal?: AbortSignal;
  /** Calls the script may make. Default 64. Further calls reject with "budget exceeded". */
  readonly maxToolCalls?: number;
  /** Accepted for compatibility; a script's process is killed without grace. */
  readonly abortGraceMs?: number;
  /** Told the text of a timeout. */
  readonly warn?: (message: string) => void;
  /** CPU time. Default: `timeoutMs`, or 30000 when that is off; 0 for none. Outcome `timeout`. */
  readonly maxCpuMs?: number;
  /** Calls dispatched at the same time; others wait their turn. Default 256. */
  readonly maxCallsInFlight?: number;
  /** Largest source. Default 1 MiB. Outcome `execution-failed`. */
  readonly maxSourceBytes?: number;
  /** Largest arguments of one call. Default 1 MiB. The call rejects. */
  readonly maxArgsBytes?: number;
  /** Largest result of one call. Default 16 MiB. The call rejects. */
  readonly maxResultBytes?: number;
  /** Largest return value. Default 4 MiB. Outcome `execution-failed`. */
  readonly maxOutputBytes?: number;
  /** Console text kept. Default 64 KiB; the rest is dropped. */
  readonly maxConsoleBytes?: number;
  /**
   * Parts the return value, or the arguments of one call, may have: each value counts one, each key of an
   * object three, so a property four. Default 200000. Outcome as of the two sizes above.
   */
  readonly maxParts?: number;
}

/** Why a script failed. */
export type BridgedErrorKind = 'timeout' | 'sandbox-violation' | 'aborted' | 'execution-failed';

/** The end of a run. `console` holds what the script logged, absent when it logged nothing. */
export type BridgedSourceResult =
  | {
      readonly ok: true;
      /** What the script returned; undefined when it returned nothing. */
      readonly output: unknown;
      /** Calls the host accepted, counted by the host. */
      readonly toolCalls: number;
      /** Fractional milliseconds from the call to the result. */
      readonly durationMs: number;
      readonly console?: ReadonlyArray<string>;
    }
  | {
      readonly ok: false;
      readonly error: { readonly kind: BridgedErrorKind; readonly message: string };
      readonly toolCalls: number;
      readonly durationMs: number;
      readonly console?: ReadonlyArray<string>;
    };

/** Anything that runs a script like {@link runBridgedSource}; never rejects for a fault of the script. */
export type CodeModeRunner = (options: BridgedSourceOptions) => Promise<BridgedSourceResult>;
