import type { DockerodeModule } from './peer.js';

/** Options of the docker tier. */
export interface DockerSandboxOptions {
  /** Any image with `node` on its path. Default `graphorin-sandbox:latest`. */
  readonly image?: string;
  /**
   * The engine's socket (a named pipe on Windows). Default: what `DOCKER_HOST` names (`unix://`,
   * `npipe://`, or `tcp://` without TLS), otherwise Docker's usual sockets, then Podman's.
   */
  readonly socketPath?: string;
  /** Wall clock of a run that names none, in milliseconds; 0 or less means none. Default 30000. */
  readonly defaultTimeoutMs?: number;
  /** Memory of a run that names none, in MiB; there is no swap on top. Default 512. */
  readonly memoryLimitMb?: number;
  /** `uid:gid`, a user name, or `''` for the image's own. Default `10001:10001`. */
  readonly user?: string;
  /** Processes and threads; floored and clamped to 16…4096. An idle Node takes 7. Default 128. */
  readonly pidsLimit?: number;
  /** Processors; clamped to 0.1…8. Default 1. */
  readonly cpus?: number;
  /**
   * Loads a client of dockerode's shape, which is then used instead of ferrule's own. Called at the
   * first run; its success or failure is kept.
   */
  readonly peerLoader?: () => Promise<DockerodeModule>;
  /**
   * Containers kept started and waiting, which makes repeated runs many times faster. Each serves one
   * run. There is a pool for each of the first four kinds of container that runs ask for (memory, network,
   * root file system); runs whose `env` has `NODE_*`, `LD_*` or `UV_*` always start cold. Off by default.
   */
  readonly pool?: {
    /** How many of a kind wait; 0 to 64. Default 0. */
    readonly size?: number;
    /** How long an unused pool is kept, in milliseconds. Default 300000. */
    readonly idleTimeoutMs?: number;
  };
  /** How long the engine may take to create and start a container, in milliseconds. Default 60000. */
  readonly setupTimeoutMs?: number;
  /** Largest result in bytes of JSON. Default 67108864 (64 MiB). */
  readonly maxResultBytes?: number;
}

/** A container before it exists, as the addon takes it. @internal */
export interface ContainerSpec {
  image: string;
  user: string;
  pidsLimit: number;
  cpus: number;
  memoryMb: number;
  allowNetwork: boolean;
  allowFs: boolean;
  env: string[];
}

/** The container of a run. @internal */
export function containerSpec(
  options: DockerSandboxOptions,
  run: {
    readonly maxMemoryMb?: number;
    readonly allowNetwork?: boolean;
    readonly allowFs?: boolean;
    readonly env?: Readonly<Record<string, string>>;
  },
): ContainerSpec {
  return {
    image: options.image ?? 'graphorin-sandbox:latest',
    user: options.user ?? '10001:10001',
    pidsLimit: options.pidsLimit ?? 128,
    cpus: options.cpus ?? 1,
    memoryMb: run.maxMemoryMb ?? options.memoryLimitMb ?? 512,
    allowNetwork: run.allowNetwork === true,
    allowFs: run.allowFs === true,
    env: Object.entries(run.env ?? {}).map(([key, value]) => `${key}=${value}`),
  };
}

/** The longest delay a timer can hold; a larger one would fire at once. @internal */
export const MAX_DELAY_MS = 2_147_483_647;

/** What a status that is not zero is reported as. @internal */
export function exitMessage(status: number, stderr: string): string {
  const [line = ''] = stderr.trim().split('\n', 1);
  return `the container exited with status ${status}${line === '' ? '' : ` - ${line.slice(0, 300)}`}`;
}
