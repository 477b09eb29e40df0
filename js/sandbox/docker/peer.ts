import { builtins } from '../../builtins.js';
import { native } from '../../binding.js';
import type { SandboxCode, SandboxResult, SandboxRunOptions } from '../../core/index.js';
import { messageOf, type ResultMaker } from '../types.js';
import { containerSpec, exitMessage, MAX_DELAY_MS, type DockerSandboxOptions } from './options.js';

/** The part of a dockerode container that is used. */
export interface DockerodeContainer {
  /** Starts it. */
  start(): Promise<unknown>;
  /** Resolves when it has ended. */
  wait(): Promise<{ readonly StatusCode: number }>;
  /** What it wrote. */
  logs(options: { readonly stdout: true; readonly stderr: true }): Promise<unknown>;
  /** Removes it. */
  remove(options: { readonly force: true }): Promise<unknown>;
}

/** The part of a dockerode client that is used. */
export interface DockerodeClient {
  /** Creates a container. */
  createContainer(request: Record<string, unknown>): Promise<DockerodeContainer>;
}

/** The part of the package `dockerode` that is used. */
export interface DockerodeModule {
  /** The client's class. */
  readonly default: new (options?: { readonly socketPath: string }) => DockerodeClient;
}

/** The code that the docker tier runs. @internal */
export type DockerCode = Extract<SandboxCode, { readonly kind: 'source' | 'handler' }>;

/** How long a removal is waited for. */
const REMOVE_LIMIT_MS = 10_000;

/** Loads the caller's client; none when anything about it fails. @internal */
export async function loadPeer(
  loader: () => Promise<DockerodeModule>,
  socketPath: string | undefined,
): Promise<DockerodeClient | undefined> {
  try {
    const { default: Client } = await loader();
    return new Client(socketPath === undefined ? undefined : { socketPath });
  } catch {
    return undefined;
  }
}

/** One run through a client that the caller brought. Never rejects. @internal */
export async function runThroughPeer(
  client: DockerodeClient,
  code: DockerCode,
  opts: SandboxRunOptions,
  options: DockerSandboxOptions,
  result: ResultMaker,
): Promise<SandboxResult> {
  const { signal } = opts;
  const timeoutMs = opts.timeoutMs ?? options.defaultTimeoutMs ?? 30_000;
  const aborted = (): SandboxResult => result.fail('aborted', 'the run was aborted by AbortSignal');
  const stop = abortOf(signal);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let container: DockerodeContainer | undefined;
  try {
    const marker = `ferrule-result-${builtins.crypto().randomBytes(16).toString('hex')}`;
    const request = native().dockerPeerRequest(
      containerSpec(options, opts),
      code.kind === 'source' ? { source: code.source } : { module: code.module, export: code.export },
      JSON.stringify(opts.input ?? null) ?? 'null',
      marker,
    );
    const creating = client.createContainer(JSON.parse(request) as Record<string, unknown>);
    const created = await Promise.race([creating, stop.fired]);
    if (created === 'aborted') {
      // It may come into being all the same.
      creating.then(remove, () => {});
      return aborted();
    }
    container = created;
    if (signal?.aborted) return aborted();
    const starting = container.start();
    if ((await Promise.race([starting, stop.fired])) === 'aborted' || signal?.aborted) {
      Promise.resolve(starting).catch(() => {});
      return aborted();
    }
    const waiting = container.wait();
    Promise.resolve(waiting).catch(() => {});
    const late = new Promise<'late'>((resolve) => {
      if (timeoutMs > 0) timer = setTimeout(() => resolve('late'), Math.min(timeoutMs, MAX_DELAY_MS));
    });
    const end = await Promise.race([stop.fired, waiting, late]);
    if (end === 'aborted') return aborted();
    if (end === 'late') return result.fail('timeout', `the container timed out after ${timeoutMs} ms`);
    const log = await wholeLog(await container.logs({ stdout: true, stderr: true }));
    const { stdout, stderr, answer } = await native().dockerReadLog(log, marker);
    if (end.StatusCode !== 0) {
      return result.fail('execution-failed', exitMessage(end.StatusCode, stderr), {
        cause: { stdout, stderr },
      });
    }
    return result.ok(answer === '' ? undefined : JSON.parse(answer));
  } catch (thrown) {
    return result.fail('execution-failed', messageOf(thrown), { cause: thrown });
  } finally {
    clearTimeout(timer);
    stop.release();
    if (container !== undefined) await remove(container);
  }
}

/** Resolves once the signal fires; `release` takes the listener away. */
function abortOf(signal: AbortSignal | undefined): { fired: Promise<'aborted'>; release(): void } {
  let listener: (() => void) | undefined;
  const fired = new Promise<'aborted'>((resolve) => {
    listener = () => resolve('aborted');
    signal?.addEventListener('abort', listener, { once: true });
  });
  return {
    fired,
    release: () => {
      if (listener !== undefined) signal?.removeEventListener('abort', listener);
    },
  };
}

/** Removes a container, whatever happens; a client that never answers is not waited for. */
async function remove(container: DockerodeContainer): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const removing = Promise.resolve(container.remove({ force: true })).catch(() => {});
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, REMOVE_LIMIT_MS);
    });
    await Promise.race([removing, patience]);
  } catch {
    // A client that throws instead of rejecting.
  } finally {
    clearTimeout(timer);
  }
}

/** A log as clients give it: a buffer, text, or a stream of either. */
async function wholeLog(log: unknown): Promise<Buffer> {
  if (typeof log === 'string') return Buffer.from(log);
  if (log instanceof Uint8Array) return Buffer.from(log);
  const pieces: Buffer[] = [];
  const add = (piece: unknown): void => {
    pieces.push(typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece as Uint8Array));
  };
  if (typeof (log as Partial<AsyncIterable<unknown>> | null)?.[Symbol.asyncIterator] === 'function') {
    for await (const piece of log as AsyncIterable<unknown>) add(piece);
  } else {
    const stream = log as NodeJS.EventEmitter;
    await new Promise<void>((resolve, reject) => {
      stream.on('data', add).on('end', resolve).on('error', reject);
    });
  }
  return Buffer.concat(pieces);
}
