/**
 * Running code that a model wrote, in a process of its own.
 *
 * @packageDocumentation
 */
import { Run, type FailureKind, type Limits } from './run.js';
import type { BridgedSourceOptions, BridgedSourceResult, BridgedToolCall } from './types.js';

export type { BridgedErrorKind, BridgedSourceOptions, BridgedSourceResult, BridgedToolCall, CodeModeRunner } from './types.js';

const MB = 1024 * 1024;

/** A limit as given, or its default when it is absent or no number. */
function limit(value: number | undefined, fallback: number, least = 0): number {
  return typeof value === 'number' && !Number.isNaN(value) ? Math.max(least, value) : fallback;
}

function limitsOf(options: Partial<BridgedSourceOptions>, defaults: { timeoutMs: number; memoryMb: number }): Limits {
  const timeoutMs = limit(options.timeoutMs, defaults.timeoutMs);
  return {
    timeoutMs,
    cpuMs: Math.min(limit(options.maxCpuMs, timeoutMs > 0 ? timeoutMs : 30_000), 1e9),
    memoryMb: Math.min(limit(options.maxMemoryMb, defaults.memoryMb, 1), 64 * 1024),
    calls: limit(options.maxToolCalls, 64),
    callsInFlight: limit(options.maxCallsInFlight, 256, 1),
    sourceBytes: limit(options.maxSourceBytes, MB),
    argsBytes: Math.min(limit(options.maxArgsBytes, MB), 1024 * MB),
    resultBytes: Math.min(limit(options.maxResultBytes, 16 * MB), 512 * MB),
    outputBytes: Math.min(limit(options.maxOutputBytes, 4 * MB), 512 * MB),
    consoleBytes: Math.min(limit(options.maxConsoleBytes, 64 * 1024), 64 * MB),
    parts: Math.min(Math.floor(limit(options.maxParts, 200_000, 1)), 1e8),
  };
}

function namesOf(tools: ReadonlyArray<string>): string[] {
  return [...new Set(Array.from(tools, String))];
}

/**
 * Runs the source of a model as the body of `async (tools) => { … }` in a locked-down process, and
 * carries its tool calls to `options.dispatch`. What the script returns is the output.
 *
 * The script finds modern JavaScript and a few globals (console, timers, URL, text encoding,
 * `structuredClone`, numbers and dates of `Intl`); no files, network, modules, environment or string
 * evaluation. Values cross as structured clones: Map, Set, Date, RegExp, Error, BigInt, typed arrays and
 * cycles survive, class instances become plain, functions and symbols fail.
 *
 * Never rejects: a fault of the script, an exceeded limit, an abort, and a missing sandbox binary are all
 * `{ok: false}` with a message for the model. Tool calls in flight are not cancelled when a run ends.
 *
 * @example
 * ```ts
 * const result = await runBridgedSource({
 *   source: 'const page = await tools.list({ page: 1 }); return page.items.length;',
 *   allowedTools: ['list'],
 *   dispatch: async (call) => api[call.name](call.args),
 * });
 * if (result.ok) console.log(result.output, result.toolCalls);
 * ```
 */
export async function runBridgedSource(options: BridgedSourceOptions): Promise<BridgedSourceResult> {
  const started = performance.now();
  let run: Run;
  try {
    const { signal } = options;
    run = new Run({
      source: options.source,
      script: false,
      tools: namesOf(options.allowedTools),
      dispatch: (call: BridgedToolCall) => options.dispatch(call),
      limits: limitsOf(options, { timeoutMs: 30_000, memoryMb: 256 }),
      ...(signal === undefined || signal === null ? {} : { signal }),
    });
  } catch (error) {
    const message = `the options are not usable: ${error instanceof Error ? error.message : String(error)}`;
    return { ok: false, error: { kind: 'execution-failed', message }, toolCalls: 0, durationMs: performance.now() - started };
  }
  const ended = await run.ended;
  const about = {
    toolCalls: run.toolCalls,
    durationMs: performance.now() - run.started,
    ...(run.lines.length > 0 ? { console: run.lines } : {}),
  };
  if (ended.ok) return { ok: true, output: ended.output, ...about };
  if (ended.kind === 'timeout') warn(options, ended.message);
  // The contract of code mode has no kind for memory.
  const kind = ended.kind === 'memory-exceeded' ? 'execution-failed' : ended.kind;
  return { ok: false, error: { kind, message: ended.message }, ...about };
}

function warn(options: BridgedSourceOptions, message: string): void {
  try {
    options.warn?.(message);
  } catch {
    // A listener's fault is not the run's.
  }
}

/** What the isolated tier asks for. @internal */
export interface IsolatedSourceOptions {
  /** A script whose completion value is the output; the body of an async function when it does not parse as one. */
  readonly source: string;
  /** The text the global `__GRAPHORIN_INPUT__` holds. */
  readonly inputJson: string;
  /** Wall clock in milliseconds; 0 or less for none. Default 5000. */
  readonly timeoutMs?: number;
  /** Memory in MiB. Default 128. */
  readonly maxMemoryMb?: number;
  readonly signal?: AbortSignal;
}

/** What the isolated tier gets. @internal */
export type IsolatedSourceResult =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly error: { readonly kind: FailureKind; readonly message: string } };

/** Runs a script without tools; never rejects. @internal */
export async function runIsolatedSource(options: IsolatedSourceOptions): Promise<IsolatedSourceResult> {
  const { signal } = options;
  const run = new Run({
    source: options.source,
    script: true,
    input: options.inputJson,
    tools: [],
    limits: limitsOf(
      {
        ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
        ...(options.maxMemoryMb === undefined ? {} : { maxMemoryMb: options.maxMemoryMb }),
      },
      { timeoutMs: 5000, memoryMb: 128 },
    ),
    ...(signal === undefined ? {} : { signal }),
  });
  const ended = await run.ended;
  return ended.ok ? { ok: true, output: ended.output } : { ok: false, error: { kind: ended.kind, message: ended.message } };
}
