import { messageOf, sandboxImpl, startRun, type SandboxImpl } from '../types.js';
import { openEngine, runThroughEngine, type NativeEngine } from './engine.js';
import type { DockerSandboxOptions } from './options.js';
import { loadPeer, runThroughPeer, type DockerodeClient } from './peer.js';

/**
 * The tier of containers: each run in a fresh one without network, without capabilities, with a
 * read-only root, a writable `/work` of 64 MiB, and limits on memory, processes, processors and time.
 *
 * Source text runs as the body of an async function with `__INPUT__`, `require` and the rest of the
 * image's Node in reach; a handler reference names a module inside the image. The awaited value comes
 * back as JSON. The engine is reached by ferrule's own client; nothing is connected before the first
 * run, and no container outlives its run, its process, or (at the next start) a process that was killed.
 *
 * @example
 * ```ts
 * const sandbox = createDockerSandbox({ image: 'node:22-slim', pool: { size: 2 } });
 * await sandbox.run(
 *   { kind: 'source', source: 'return __INPUT__.a + 1' },
 *   { input: { a: 41 }, timeoutMs: 5000 },
 * ); // { ok: true, output: 42, durationMs: … }
 * ```
 */
export function createDockerSandbox(options: DockerSandboxOptions = {}): SandboxImpl {
  const { peerLoader, socketPath } = options;
  let peer: Promise<DockerodeClient | undefined> | undefined;
  let engine: NativeEngine | undefined;
  return sandboxImpl('docker', async (code, opts) => {
    const result = startRun();
    if (opts.signal?.aborted) return result.fail('aborted', 'the run was aborted before it started');
    let client: DockerodeClient | undefined;
    if (peerLoader !== undefined) {
      peer ??= loadPeer(peerLoader, socketPath);
      client = await peer;
      if (client === undefined) {
        return result.fail(
          'sandbox-violation',
          'the dockerode peer dependency or the Docker daemon is not available; start the daemon and install the peer with: pnpm add dockerode',
        );
      }
    }
    if (code.kind !== 'source' && code.kind !== 'handler') {
      return result.fail(
        'sandbox-violation',
        `sandbox 'docker' only accepts code of kind 'source' or 'handler'; it refuses code of kind '${String(code.kind)}'`,
      );
    }
    if (client !== undefined) return runThroughPeer(client, code, opts, options, result);
    try {
      engine ??= openEngine(options);
    } catch (thrown) {
      // The addon could not be loaded; its message says why.
      return result.fail('execution-failed', messageOf(thrown), { cause: thrown });
    }
    return runThroughEngine(engine, code, opts, options, result);
  });
}
