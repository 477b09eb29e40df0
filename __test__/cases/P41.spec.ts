import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createDefaultSpillWriter, truncateBody } from 'ferrule/result';
import { describe, expect, it } from 'vitest';

describe('P41: a huge result', () => {
  it('50 MB: the file is identical, the preview bounded, the event loop free', async () => {
    const root = mkdtempSync(join(tmpdir(), 'ferrule-'));
    const spill = createDefaultSpillWriter({ root, startupSweepTtlMs: false });
    const body = JSON.stringify({ text: 'the quick brown fox shows new things; '.repeat(1_316_000) });
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const outcome = await truncateBody({
      body,
      maxTokens: 16_384,
      strategy: 'spill-to-file',
      options: { spill, runId: 'r', toolCallId: 'c', imperativeBudgetMs: 60_000 },
    });
    delay.disable();
    expect(outcome.keptTokens).toBeLessThanOrEqual(16_384);
    expect(outcome.spillImperativePatternsPresent).toBe(false);
    expect(readFileSync(outcome.artifactPath as string, 'latin1') === body).toBe(true);
    // Generous: a busy machine and an addon built for development. The bench measures it.
    expect(delay.max / 1e6).toBeLessThan(500);
  }, 120_000);
});
