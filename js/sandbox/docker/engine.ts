import { builtins } from '../../builtins.js';
import { native, type NativeBinding } from '../../binding.js';
import type { SandboxResult, SandboxRunOptions } from '../../core/index.js';
import { messageOf, type ResultMaker } from '../types.js';
import { containerSpec, exitMessage, type DockerSandboxOptions } from './options.js';
import type { DockerCode } from './peer.js';

/** One engine of the addon. @internal */
export type NativeEngine = InstanceType<NativeBinding['DockerEngine']>;
/** One run of an engine. @internal */
export type NativeSession = ReturnType<NativeEngine['open']>;
/** One event of a session. @internal */
export type NativeEvent = NonNullable<Awaited<ReturnType<NativeSession['next']>>>;

/** How much of stdout and stderr is kept for a failure's `cause`, in bytes each. */
const MAX_OUTPUT_BYTES = 1_048_576;
/** How long the end of the process waits for containers to be removed. */
const EXIT_LIMIT_MS = 5_000;
/** Largest result when nobody says otherwise, in bytes. @internal */
export const MAX_RESULT_BYTES = 67_108_864;

/**
 * The engines that may have containers, held so that the end of the process finds them, also when their
 * sandbox is no longer in use and the removal of its last container is still under way.
 */
const busy = new Set<NativeEngine>();
let watch: ReturnType<typeof setInterval> | undefined;

function removeAll(): void {
  for (const engine of busy) if (engine.liveCount() > 0) engine.closeNow(EXIT_LIMIT_MS);
}

/** Sees to it that the containers of a session that is about to be opened do not outlive the process. */
function track(engine: NativeEngine): void {
  if (busy.size === 0) process.on('exit', removeAll);
  busy.add(engine);
  watch ??= setInterval(() => {
    for (const one of busy) if (one.liveCount() === 0) busy.delete(one);
    if (busy.size > 0) return;
    process.off('exit', removeAll);
    clearInterval(watch);
    watch = undefined;
  }, 5_000).unref();
}

/** Opens a session. @internal */
export function openSession(engine: NativeEngine, job: Parameters<NativeEngine['open']>[0]): NativeSession {
  track(engine);
  return engine.open(job);
}

/** An engine that has done nothing yet; all of its runs have `baseEnv` in front of theirs. @internal */
export function openEngine(options: DockerSandboxOptions, baseEnv: string[] = []): NativeEngine {
  const { socketPath } = options;
  const { DOCKER_HOST: dockerHost, XDG_RUNTIME_DIR: runtimeDir, HOME: home } = process.env;
  return new (native().DockerEngine)({
    id: builtins.crypto().randomBytes(8).toString('hex'),
    baseEnv,
    poolSize: Math.min(64, Math.max(0, Math.floor(options.pool?.size ?? 0))),
    poolIdleMs: options.pool?.idleTimeoutMs ?? 300_000,
    setupTimeoutMs: options.setupTimeoutMs ?? 60_000,
    ...(socketPath === undefined ? {} : { socketPath }),
    ...(dockerHost === undefined ? {} : { dockerHost }),
    ...(runtimeDir === undefined ? {} : { runtimeDir }),
    ...(home === undefined ? {} : { home }),
  });
}

/** A run's secret. @internal */
export function nonce(): string {
  return builtins.crypto().randomBytes(16).toString('hex');
}

/** One run through ferrule's own client. Never rejects. @internal */
export async function runThroughEngine(
  engine: NativeEngine,
  code: DockerCode,
  opts: SandboxRunOptions,
  options: DockerSandboxOptions,
  result: ResultMaker,
): Promise<SandboxResult> {
  const { signal } = opts;
  const timeoutMs = opts.timeoutMs ?? options.defaultTimeoutMs ?? 30_000;
  const maxResultBytes = options.maxResultBytes ?? MAX_RESULT_BYTES;
  let cancel: (() => void) | undefined;
  try {
    const session = openSession(engine, {
      spec: containerSpec(options, opts),
      nonce: nonce(),
      payload: JSON.stringify({
        ...(code.kind === 'source'
          ? { kind: 'source', source: code.source }
          : { kind: 'handler', module: code.module, export: code.export }),
        input: JSON.stringify(opts.input ?? null) ?? 'null',
      }),
      bridge: false,
      timeoutMs,
      maxMessageBytes: maxResultBytes,
      maxOutputBytes: MAX_OUTPUT_BYTES,
    });
    cancel = () => session.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    return resultOf(await session.next(), timeoutMs, maxResultBytes, result);
  } catch (thrown) {
    return result.fail('execution-failed', messageOf(thrown), { cause: thrown });
  } finally {
    if (cancel !== undefined) signal?.removeEventListener('abort', cancel);
  }
}

function resultOf(
  event: NativeEvent | null | undefined,
  timeoutMs: number,
  maxResultBytes: number,
  result: ResultMaker,
): SandboxResult {
  switch (event?.kind) {
    case 'answer':
      return result.ok(JSON.parse(event.text ?? 'null'));
    case 'aborted':
      return result.fail('aborted', 'the run was aborted by AbortSignal');
    case 'timeout':
      return result.fail('timeout', `the container timed out after ${timeoutMs} ms`);
    case 'too-large':
      return result.fail('execution-failed', `the result is larger than ${maxResultBytes} bytes`);
    case 'unavailable':
      return result.fail('sandbox-violation', event.text ?? 'no Docker engine answers');
    case 'exited':
      return exited(event, result);
    default:
      return result.fail('execution-failed', event?.text ?? 'the run ended without a result');
  }
}

function exited(event: NativeEvent, result: ResultMaker): SandboxResult {
  const { exitCode = -1, stdout = '', stderr = '' } = event;
  if (exitCode !== 0) {
    return result.fail(ranOutOfMemory(event) ? 'memory-exceeded' : 'execution-failed', exitMessage(exitCode, stderr), {
      cause: { stdout, stderr },
    });
  }
  // The code ended its process itself, perhaps after it had written its answer itself.
  const answer = stdout.trim();
  if (answer === '') {
    return result.fail('execution-failed', 'the container exited before producing a result', {
      cause: { stdout, stderr },
    });
  }
  return result.ok(JSON.parse(answer));
}

/** Whether a container died of its memory limit: killed by the kernel, or given up by V8. @internal */
export function ranOutOfMemory(event: NativeEvent): boolean {
  const { exitCode, stderr = '', outOfMemory } = event;
  return exitCode !== 0 && (outOfMemory === true || stderr.includes('heap out of memory'));
}
