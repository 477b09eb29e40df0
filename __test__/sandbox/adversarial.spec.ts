// Hostile scripts against a host that is watched from outside (issue 6, the proof): every attempt is
// contained, the host's event loop is never kept busy for more than 50 ms, the next call works.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { groups, type Attempt } from './adversarial.attempts.js';
// @ts-expect-error a plain script
import { ensureDist } from '../../scripts/lib.mjs';

const adversary = fileURLToPath(new URL('./adversary.mjs', import.meta.url));

interface Row {
  readonly name: string;
  readonly result: { ok: boolean; output?: unknown; error?: { kind: string; message: string } };
  readonly took: number;
  readonly busy: number;
  readonly next: boolean;
  readonly rss: number;
  readonly files?: number;
  readonly handles?: string[];
}

/** The sandbox processes whose parent is `pid`, or whose parent's parent is. */
function family(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry) || !existsSync(`/proc/${entry}/stat`)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It ended while we looked.
    }
  }
  return [...parents].filter(([, parent]) => parent === pid || parents.get(parent) === pid).map(([id]) => id);
}

/** Whether a sandbox process of this id still runs. */
function isSandbox(id: number): boolean {
  try {
    return /^\d+ \(ferrule-sandbox\) [^Z]/.test(readFileSync(`/proc/${id}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

async function watch(attempts: ReadonlyArray<Attempt>): Promise<{ code: number | null; printed: string; rows: Row[]; left: number[] }> {
  const child = spawn(process.execPath, [adversary], { stdio: ['pipe', 'pipe', 'pipe', 'pipe'], env: { ...process.env, HOST_SECRET: 'x' } });
  let printed = '';
  let told = '';
  child.stdout?.on('data', (chunk) => (printed += chunk));
  child.stderr?.on('data', (chunk) => (printed += chunk));
  child.stdio[3]?.on('data', (chunk) => (told += chunk));
  child.stdin?.end(JSON.stringify(attempts));
  let helpers: number[] = [];
  const look = setInterval(() => (helpers = [...new Set([...helpers, ...family(child.pid as number)])]), 200);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearInterval(look);
  // They end by themselves once the host is gone; a busy machine may take its time to let them.
  let left = helpers.filter(isSandbox);
  for (let i = 0; i < 100 && left.length > 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    left = left.filter(isSandbox);
  }
  return { code, printed, rows: told.split('\n').filter(Boolean).map((line) => JSON.parse(line) as Row), left };
}

function endedAsExpected(group: string, attempt: Attempt, { result }: Row): boolean {
  // On a busy machine the clock may come before the end that was meant: that is contained, too.
  if (group !== 'reach' && result.error?.kind === 'timeout') return true;
  return attempt.ends.some((end) => ('output' in end ? result.ok && JSON.stringify(result.output) === JSON.stringify(end.output) : !result.ok && result.error?.kind === end.kind && result.error.message.includes(end.text)));
}

describe.skipIf(process.platform !== 'linux')('hostile scripts', () => {
  beforeAll(async () => void (await ensureDist()), 240_000);

  it('there are at least sixty attempts', () => {
    expect(Object.values(groups).flat().length).toBeGreaterThanOrEqual(60);
  });

  it('a stall of our own would be noticed', { timeout: 60_000 }, async () => {
    const name = 'a planted stall';
    const { rows } = await watch([{ name, source: 'await tools.stall(70); return 1', options: { timeoutMs: 20_000 }, ends: [] }]);
    expect(rows.find((row) => row.name === name)?.busy).toBeGreaterThan(50);
  });

  it.concurrent.each(Object.entries(groups))('%s', { timeout: 240_000 }, async (group, attempts) => {
    const { code, printed, rows, left } = await watch(attempts);
    const problems: string[] = [];
    for (const attempt of attempts) {
      const row = rows.find((one) => one.name === attempt.name);
      if (row === undefined) problems.push(`${attempt.name}: the host did not live to tell`);
      else {
        if (!endedAsExpected(group, attempt, row)) problems.push(`${attempt.name}: ended as ${JSON.stringify(row.result).slice(0, 300)}`);
        if (!row.next) problems.push(`${attempt.name}: the next call failed`);
        if (row.busy > 50) problems.push(`${attempt.name}: the event loop was busy for ${row.busy.toFixed(0)} ms`);
        if (row.rss > 600e6) problems.push(`${attempt.name}: the host took ${(row.rss / 1e6).toFixed(0)} MB`);
        const limit = Number(attempt.options?.['timeoutMs'] ?? 1000);
        if (row.took > limit + 1500) problems.push(`${attempt.name}: took ${row.took.toFixed(0)} ms under a limit of ${limit}`);
      }
    }
    const after = rows.at(-1);
    expect({ problems, code, printed, left, files: after?.files, handles: after?.handles }).toEqual({ problems: [], code: 0, printed: '', left: [], files: 0, handles: [] });
  });
});
