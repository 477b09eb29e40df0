import type { SandboxCode, SandboxErrorKind, SandboxResult, SandboxRunOptions } from '../core/index.js';
import { runIsolatedSource } from './bridged/index.js';
import { sandboxBinaryProblem } from './bridged/process.js';
import { messageOf, nameOf, sandboxImpl, startRun, type ResultMaker, type SandboxImpl } from './types.js';

/** A compiled script of the peer. */
export interface IsolatedVMScript {
  /** Runs it in a context, within a time in milliseconds. */
  run(
    context: IsolatedVMContext,
    options: { readonly timeout: number; readonly promise: true; readonly copy: true },
  ): Promise<unknown>;
  /** Lets go of it. */
  release(): void;
}

/** A context of the peer. */
export interface IsolatedVMContext {
  /** Its global object. */
  readonly global: { setSync(name: string, value: unknown): void };
  /** Lets go of it. */
  release(): void;
}

/** An isolate of the peer. */
export interface IsolatedVMIsolate {
  /** A new context. */
  createContext(): Promise<IsolatedVMContext>;
  /** Compiles a script. */
  compileScript(source: string): Promise<IsolatedVMScript>;
  /** Ends it and frees its memory. */
  dispose(): void;
}

/** The part of the package `isolated-vm` that is used. */
export interface IsolatedVMPeerModule {
  /** The class of isolates; the limit is in MiB. */
  readonly Isolate: new (options?: { readonly memoryLimit?: number }) => IsolatedVMIsolate;
}

/** Options of {@link createIsolatedVMSandbox}. */
export interface IsolatedVMSandboxOptions {
  /** Memory of a run that names none, in MiB. Default 128. */
  readonly memoryLimitMb?: number;
  /** Wall clock of a run that names none, in milliseconds. Default 5000. */
  readonly defaultTimeoutMs?: number;
  /** What to do when the engine is unavailable. Default `fallback-to-worker-threads`, which needs `fallbackAdapter`. */
  readonly fallback?: 'fallback-to-worker-threads' | 'throw';
  /** The sandbox to fall back to. Without one there is no fallback. */
  readonly fallbackAdapter?: SandboxImpl;
  /** Told once when the fallback is taken. Default `console.warn`. */
  readonly warn?: (message: string) => void;
  /**
   * Loads the package `isolated-vm` instead of ferrule's own engine process. Called at the first run;
   * its success or failure is kept.
   */
  readonly peerLoader?: () => Promise<IsolatedVMPeerModule>;
}

const MISSING_PEER = 'the isolated-vm peer dependency is not installed; install it with: pnpm add isolated-vm';

/**
 * The tier of plain JavaScript without host APIs: runs source text whose input is the JSON text in
 * the global `__GRAPHORIN_INPUT__`; the completion value, awaited, is the output.
 *
 * Without `peerLoader` the source runs in ferrule's own engine process, and no peer is needed. Code
 * given as handler or file is refused.
 *
 * @example
 * ```ts
 * const sandbox = createIsolatedVMSandbox({ memoryLimitMb: 64 });
 * await sandbox.run(
 *   { kind: 'source', source: 'JSON.parse(__GRAPHORIN_INPUT__).a + 1' },
 *   { input: { a: 41 } },
 * ); // { ok: true, output: 42, durationMs: … }
 * ```
 */
export function createIsolatedVMSandbox(options: IsolatedVMSandboxOptions = {}): SandboxImpl {
  const { peerLoader } = options;
  let peer: Promise<IsolatedVMPeerModule | undefined> | undefined;
  let warned = false;

  function unavailable(
    problem: string,
    code: SandboxCode,
    opts: SandboxRunOptions,
    result: ResultMaker,
  ): SandboxResult | Promise<SandboxResult> {
    const { fallbackAdapter, warn = console.warn } = options;
    if (options.fallback === 'throw' || fallbackAdapter === undefined) {
      return result.fail('sandbox-violation', problem);
    }
    if (!warned) {
      warned = true;
      try {
        warn(`sandbox 'isolated-vm': ${problem}; falling back to sandbox '${fallbackAdapter.id}'`);
      } catch {
        // A warning that cannot be delivered must not stop the run.
      }
    }
    return fallbackAdapter.run(code, opts);
  }

  return sandboxImpl('isolated-vm', async (code, opts) => {
    const result = startRun();
    try {
      if (peerLoader === undefined) {
        const problem = sandboxBinaryProblem();
        if (problem !== undefined) return await unavailable(problem, code, opts, result);
        if (code.kind !== 'source') return refuseKind(code, result);
        return await runInOwnEngine(code.source, opts, options, result);
      }
      peer ??= loadPeer(peerLoader);
      const loaded = await peer;
      if (loaded === undefined) return await unavailable(MISSING_PEER, code, opts, result);
      if (code.kind !== 'source') return refuseKind(code, result);
      return await runInPeer(loaded, code.source, opts, options, result);
    } catch (thrown) {
      return result.fail('execution-failed', messageOf(thrown), { cause: thrown });
    }
  });
}

function refuseKind(code: SandboxCode, result: ResultMaker): SandboxResult {
  return result.fail(
    'sandbox-violation',
    `sandbox 'isolated-vm' only accepts code of kind 'source'; it refuses code of kind '${String(code.kind)}'`,
  );
}

async function loadPeer(
  loader: () => Promise<IsolatedVMPeerModule>,
): Promise<IsolatedVMPeerModule | undefined> {
  try {
    const loaded = (await loader()) as (IsolatedVMPeerModule & { readonly default?: unknown }) | undefined;
    if (typeof loaded?.Isolate === 'function') return loaded;
    // `import('isolated-vm')` shows a CommonJS module: the class sits under `default`.
    const inner = loaded?.default as IsolatedVMPeerModule | undefined;
    return typeof inner?.Isolate === 'function' ? inner : undefined;
  } catch {
    return undefined;
  }
}

async function runInOwnEngine(
  source: string,
  opts: SandboxRunOptions,
  options: IsolatedVMSandboxOptions,
  result: ResultMaker,
): Promise<SandboxResult> {
  if (opts.signal?.aborted) return result.fail('aborted', 'the run was aborted before it started');
  const answer = await runIsolatedSource({
    source,
    inputJson: inputJson(opts.input),
    timeoutMs: opts.timeoutMs ?? options.defaultTimeoutMs ?? 5000,
    maxMemoryMb: memoryOf(opts, options),
    ...(opts.signal === undefined ? {} : { signal: opts.signal }),
  });
  return answer.ok ? result.ok(answer.output) : result.fail(answer.error.kind, answer.error.message);
}

/** JSON of the input; what JSON has no word for (undefined, a function) becomes `null`. */
function inputJson(input: unknown): string {
  return JSON.stringify(input ?? null) ?? 'null';
}

function memoryOf(opts: SandboxRunOptions, options: IsolatedVMSandboxOptions): number {
  const asked = opts.maxMemoryMb;
  return asked !== undefined && asked > 0 ? asked : (options.memoryLimitMb ?? 128);
}

async function runInPeer(
  peer: IsolatedVMPeerModule,
  source: string,
  opts: SandboxRunOptions,
  options: IsolatedVMSandboxOptions,
  result: ResultMaker,
): Promise<SandboxResult> {
  const { signal } = opts;
  if (signal?.aborted) return result.fail('aborted', 'the run was aborted before it started');
  let isolate: IsolatedVMIsolate | undefined;
  let context: IsolatedVMContext | undefined;
  let script: IsolatedVMScript | undefined;
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<'aborted'>((resolve) => {
    onAbort = () => resolve('aborted');
    signal?.addEventListener('abort', onAbort, { once: true });
  });
  try {
    const input = inputJson(opts.input);
    isolate = new peer.Isolate({ memoryLimit: memoryOf(opts, options) });
    context = await isolate.createContext();
    context.global.setSync('__GRAPHORIN_INPUT__', input);
    script = await compile(isolate, source);
    const timeout = opts.timeoutMs ?? options.defaultTimeoutMs ?? 5000;
    const running = script
      .run(context, { timeout, promise: true, copy: true })
      .then((output) => ({ output }));
    // Ending the isolate below rejects a run that lost the race.
    running.catch(() => {});
    const first = await Promise.race([running, aborted]);
    return first === 'aborted'
      ? result.fail('aborted', 'the run was aborted by AbortSignal')
      : result.ok(first.output);
  } catch (thrown) {
    const message = messageOf(thrown);
    return result.fail(peerErrorKind(message), message, { cause: thrown });
  } finally {
    if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
    quietly(() => script?.release());
    quietly(() => context?.release());
    quietly(() => isolate?.dispose());
  }
}

/**
 * Compiles as a script. Source with a top-level `return` or `await` is no script: it is tried once
 * more as the body of an async function.
 */
async function compile(isolate: IsolatedVMIsolate, source: string): Promise<IsolatedVMScript> {
  try {
    return await isolate.compileScript(source);
  } catch (thrown) {
    if (nameOf(thrown) !== 'SyntaxError') throw thrown;
    try {
      return await isolate.compileScript(`(async () => {${source}\n})()`);
    } catch {
      throw thrown;
    }
  }
}

function peerErrorKind(message: string): SandboxErrorKind {
  const text = message.toLowerCase();
  if (text.includes('timed out')) return 'timeout';
  return text.includes('memory') ? 'memory-exceeded' : 'execution-failed';
}

function quietly(action: () => void): void {
  try {
    action();
  } catch {
    // Cleaning up what may already be gone.
  }
}
