// The demo is the product's main job on real input: it must work, and leave nothing behind.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const demo = join(root, 'examples', 'assistant', 'main.mjs');

/** The processes below a process; Linux only. */
function descendants(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  const children = existsSync(file) ? readFileSync(file, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number) : [];
  return children.flatMap((child) => [child, ...descendants(child)]);
}

/** A process that has ended and waits to be reaped counts as gone. */
function alive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('examples/assistant', () => {
  test('every outcome is the recorded one', () => {
    const ended = spawnSync(process.execPath, [demo], { cwd: root, encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' });
    expect(ended.stderr).toBe('');
    expect(ended.stdout).toContain('all as expected');
    expect(ended.status).toBe(0);
  }, 70_000);

  test.skipIf(process.platform !== 'linux').each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    'ended by %s in the middle, it leaves no process behind',
    async (signal) => {
      const child = spawn(process.execPath, [demo], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
      const closed = new Promise((resolve) => child.on('exit', resolve));
      // The script of turn 4 has run by then: the sandbox process is there.
      for await (const text of child.stdout) if (String(text).includes('Turn 5')) break;
      const below = descendants(child.pid!);
      expect(below.length).toBeGreaterThan(0);
      child.kill(signal);
      await closed;
      for (let waited = 0; waited < 3_000 && below.some(alive); waited += 50) await sleep(50);
      expect(below.filter(alive)).toEqual([]);
    },
    30_000,
  );
});
