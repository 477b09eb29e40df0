/** Runs a fixture in a process of its own. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const runFile = promisify(execFile);

/** Runs `fixtures/<name>.mjs`; what its last line says as JSON, and when the process was gone. */
export async function child<T>(name: string, args: string[] = [], flags: string[] = []): Promise<{ report: T; endedAt: number }> {
  const path = fileURLToPath(new URL(`./fixtures/${name}.mjs`, import.meta.url));
  const { stdout } = await runFile(process.execPath, [...flags, path, ...args], { timeout: 280_000 });
  return { report: JSON.parse(stdout.trim().split('\n').at(-1)!) as T, endedAt: Date.now() };
}
