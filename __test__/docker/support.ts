import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import { createDockerSandbox, type SandboxRunOptions } from 'ferrule/sandbox';
import type { DockerSandboxOptions } from 'ferrule/sandbox/docker';

/** The image on the engine that DOCKER_HOST names. Without one these tests are skipped. */
export const image = process.env.FERRULE_DOCKER_IMAGE;
if (image === undefined) {
  console.log('no Docker engine: skipped. `npm run test:docker` installs and starts one (Debian or Ubuntu, root).');
}

export const options: DockerSandboxOptions = image === undefined ? {} : { image };

/** Runs source text in a sandbox of its own. */
export function run(source: string, opts: Partial<SandboxRunOptions> = {}, more: DockerSandboxOptions = {}) {
  return createDockerSandbox({ ...options, ...more }).run({ kind: 'source', source }, { input: null, ...opts });
}

/** What the engine has, whatever its state. */
export async function containers(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('docker', ['ps', '-a', '--format', '{{.Names}} {{.Status}}']);
  return stdout.trim().split('\n').filter(Boolean);
}

export const nothingIsLeft = () =>
  vi.waitFor(async () => expect(await containers()).toEqual([]), { timeout: 15_000, interval: 100 });
