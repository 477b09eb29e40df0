/**
 * What the docker tier offers beyond the sandbox of `ferrule/sandbox`: code mode in containers, and the
 * sweep of containers that killed processes left behind.
 *
 * @packageDocumentation
 */
import { openEngine } from './engine.js';
import type { DockerSandboxOptions } from './options.js';

export type { DockerSandboxOptions } from './options.js';
export { createDockerCodeModeRunner } from './runner.js';

/**
 * Removes the containers of processes of this machine that are gone, and answers how many there were.
 * Every engine does so by itself at its first run; this is for a cron job or a shutdown script. Only
 * where processes can be told apart reliably (Linux) is anything removed.
 *
 * Rejects when no engine answers.
 *
 * @example
 * ```ts
 * await sweepDockerOrphans({ socketPath: '/var/run/docker.sock' });
 * ```
 */
export async function sweepDockerOrphans(options: Pick<DockerSandboxOptions, 'socketPath'> = {}): Promise<number> {
  return openEngine(options).sweep();
}
