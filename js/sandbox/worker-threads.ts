import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { builtins } from '../builtins.js';
import type { SandboxCode, SandboxResult, SandboxRunOptions } from '../core/index.js';
import { messageOf, sandboxImpl, startRun, type ResultMaker, type SandboxImpl } from './types.js';
import { WORKER_SOURCE } from './worker-source.js';

/** Accepted for compatibility; every run gets a fresh worker. */
export interface WorkerPoolOptions {
  /** Accepted for compatibility. */
  readonly min?: number;
  /** Accepted for compatibility. */
  readonly max?: number;
  /** Accepted for compatibility. */
  readonly idleTimeoutMs?: number;
}

/** Options of {@link createWorkerThreadsSandbox}. */
export interface WorkerThreadsSandboxOptions {
  /** Wall clock of a run that names none, in milliseconds; 0 or less means none. Default 5000. */
  readonly defaultTimeoutMs?: number;
  /** Accepted for compatibility: an aborted worker is ended at once. Default 100. */
  readonly abortGraceMs?: number;
  /** Block the network for runs that do not say. Default false. */
  readonly noNetwork?: boolean;
  /** Block the file system for runs that do not say. Default false. */
  readonly noFilesystem?: boolean;
  /** Accepted for compatibility; nothing is warned about. */
  readonly warn?: (message: string) => void;
  /** Accepted for compatibility; every run gets a fresh worker. */
  readonly pool?: WorkerPoolOptions;
}

const DENIED = new Set(['SandboxFsAccessDenied', 'SandboxNetworkAccessDenied', 'SandboxModuleAccessDenied']);
/** The longest delay a timer can hold; a larger one would fire at once. */
const MAX_DELAY_MS = 2_147_483_647;

/**
 * With V8's default a whole young generation can be promoted past the limit at once, and V8 then aborts
 * the *process*, host included (Node 24, small arrays in a loop). In small steps it ends the worker.
 */
const YOUNG_GENERATION_MB = 8;

/** What the worker posts: exactly one of these. */
type WorkerMessage =
  | { readonly output: unknown }
  | { readonly missing: true }
  | {
      readonly thrown: {
        readonly name: string | undefined;
        readonly message: string;
        readonly stack: string | undefined;
      };
    };

/** A limit that is a number. What is none, `Number(process.env.UNSET)` say, must not mean "no limit". */
function numberOf(limit: number | undefined): number | undefined {
  const number = limit == null ? Number.NaN : Number(limit);
  return Number.isNaN(number) ? undefined : number;
}

/**
 * The tier of Node worker threads: a fresh worker a run, ended afterwards. The worker imports the
 * module of a handler reference and calls its export with a clone of the input; the output is cloned
 * back. Its environment is empty but for `env`; while files are open, the system still shows them that of
 * the process (`/proc/self/environ`). Modules that start processes, threads or other code
 * are always closed, files and network when asked, by `import`, `require` and
 * `process.getBuiltinModule` alike.
 *
 * A thread is a fence, not a wall: the worker shares the process. A single allocation far past
 * `maxMemoryMb` makes V8 abort the whole process, which no worker can prevent, and the memory of buffers is
 * not counted. Code that may be hostile belongs into `isolated-vm` or `docker`.
 *
 * @example
 * ```ts
 * const sandbox = createWorkerThreadsSandbox({ noNetwork: true });
 * await sandbox.run({ kind: 'handler', module: './tools/sum.mjs', export: 'execute' }, { input: [1, 2] });
 * ```
 */
export function createWorkerThreadsSandbox(options: WorkerThreadsSandboxOptions = {}): SandboxImpl {
  return sandboxImpl('worker-threads', async (code, opts) => {
    const result = startRun();
    if (code.kind !== 'handler') {
      return result.fail(
        'sandbox-violation',
        `sandbox 'worker-threads' only accepts pre-registered handlers; it refuses code of kind '${String(code.kind)}'`,
      );
    }
    if (opts.signal?.aborted) return result.fail('aborted', 'the run was aborted before it started');
    return runInWorker(code, opts, options, result);
  });
}

function runInWorker(
  code: Extract<SandboxCode, { readonly kind: 'handler' }>,
  opts: SandboxRunOptions,
  defaults: WorkerThreadsSandboxOptions,
  result: ResultMaker,
): Promise<SandboxResult> {
  let worker: Worker;
  try {
    worker = startWorker(code, opts, defaults);
  } catch (thrown) {
    // An input that cannot be cloned, most of all.
    return Promise.resolve(result.fail('execution-failed', messageOf(thrown), { cause: thrown }));
  }
  const timeoutMs = numberOf(opts.timeoutMs) ?? numberOf(defaults.defaultTimeoutMs) ?? 5000;
  const { signal } = opts;
  return new Promise((resolve) => {
    const onAbort = (): void => settle(result.fail('aborted', 'the run was aborted by AbortSignal'));
    const timer =
      timeoutMs > 0
        ? setTimeout(
            () => settle(result.fail('timeout', `the handler timed out after ${timeoutMs} ms`)),
            Math.min(timeoutMs, MAX_DELAY_MS),
          )
        : undefined;
    function settle(outcome: SandboxResult): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      // Events of a worker that is being ended must neither settle again nor go unobserved.
      worker.removeAllListeners();
      worker.on('error', () => {});
      void worker.terminate().catch(() => {});
      resolve(outcome);
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    worker.on('message', (message: WorkerMessage) => settle(outcomeOf(message, code, result)));
    worker.on('messageerror', (error) =>
      settle(result.fail('execution-failed', messageOf(error), { cause: error })),
    );
    worker.on('error', (error: unknown) => {
      const outOfMemory = (error as { code?: unknown } | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
      settle(
        result.fail(outOfMemory ? 'memory-exceeded' : 'execution-failed', messageOf(error), { cause: error }),
      );
    });
    worker.on('exit', (exitCode) =>
      settle(
        result.fail(
          'execution-failed',
          exitCode === 0 ? 'the worker exited before producing a result' : `the worker exited with code ${exitCode}`,
        ),
      ),
    );
  });
}

function startWorker(
  code: Extract<SandboxCode, { readonly kind: 'handler' }>,
  opts: SandboxRunOptions,
  defaults: WorkerThreadsSandboxOptions,
): Worker {
  const { maxMemoryMb } = opts;
  return new (builtins.workerThreads().Worker)(WORKER_SOURCE, {
    eval: true,
    env: { ...opts.env },
    // The host's own flags (--input-type, --import, …) would change how the worker starts.
    execArgv: [],
    workerData: {
      target: specifierOf(code.module),
      exportName: code.export,
      noNetwork: opts.allowNetwork === undefined ? defaults.noNetwork === true : !opts.allowNetwork,
      noFilesystem: opts.allowFs === undefined ? defaults.noFilesystem === true : !opts.allowFs,
      input: opts.input,
    },
    ...(maxMemoryMb !== undefined && maxMemoryMb > 0
      ? {
          resourceLimits: {
            maxOldGenerationSizeMb: maxMemoryMb,
            maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
          },
        }
      : {}),
  });
}

function outcomeOf(
  message: WorkerMessage,
  code: Extract<SandboxCode, { readonly kind: 'handler' }>,
  result: ResultMaker,
): SandboxResult {
  if ('output' in message) return result.ok(message.output);
  if ('missing' in message) {
    return result.fail('sandbox-violation', `export '${code.export}' of '${code.module}' is not a function`);
  }
  const { name, message: text, stack } = message.thrown;
  return result.fail(
    name !== undefined && DENIED.has(name) ? 'sandbox-violation' : 'execution-failed',
    text,
    ...(stack === undefined ? [] : [{ cause: { stack } }]),
  );
}

/** What the worker imports: absolute paths become file URLs, everything else stays as written. */
function specifierOf(module: string): string {
  if (isAbsolute(module)) return pathToFileURL(module).href;
  if (/^[A-Za-z]:[\\/]/.test(module)) return new URL(`file:///${module.replaceAll('\\', '/')}`).href;
  return module;
}
