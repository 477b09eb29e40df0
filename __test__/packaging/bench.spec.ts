// The measurements: another package with the same API is measured beside ours, and two runs compare.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { command, createApp } from './app.js';
import type { App } from './app.js';

interface Row {
  readonly name: string;
  readonly ours: { readonly ms?: number; readonly error?: string };
  readonly target?: { readonly ms?: number; readonly error?: string };
}
let app: App;
let out: string;
beforeAll(() => {
  app = createApp('bench');
  out = mkdtempSync(join(tmpdir(), 'ferrule-bench-results-'));
});
afterAll(() => {
  app?.remove();
  rmSync(out, { recursive: true, force: true });
});

const results = (): string[] => readdirSync(out).sort().map((name) => join(out, name));

test('BENCH_TARGET measures a packed copy beside the checkout, each in its own process', () => {
  const ended = command(process.execPath, ['bench/run.mjs', '--only=argument policy', `--out=${out}`], { env: { BENCH_TARGET: app.installed } });
  expect(ended.status, ended.stderr).toBe(0);
  expect(ended.stdout).toMatch(/^work +goal +ferrule +yardstick +ratio +target +target\/ferrule$/m);
  const { target, rows } = JSON.parse(readFileSync(results()[0]!, 'utf8')) as { target: string; rows: Row[] };
  expect(target).toBe(app.installed);
  expect(rows.map(({ name }) => name)).toEqual(['argument policy: 50 rules, 1,000 decisions']);
  expect(rows[0]!.ours.ms).toBeGreaterThan(0);
  expect(rows[0]!.target?.ms).toBeGreaterThan(0);
});

test('a target that is not there fails its column, not ours', () => {
  const ended = command(process.execPath, ['bench/run.mjs', '--only=argument policy', `--out=${out}`], { env: { BENCH_TARGET: join(app.folder, 'node_modules', 'zod') } });
  expect(ended.status, ended.stderr).toBe(0);
  const { rows } = JSON.parse(readFileSync(results()[1]!, 'utf8')) as { rows: Row[] };
  expect(rows[0]!.ours.ms).toBeGreaterThan(0);
  expect(rows[0]!.target).toMatchObject({ error: expect.any(String) });
  expect(ended.stdout).toMatch(/failed/);
});

test('--compare shows two runs side by side', () => {
  const ended = command(process.execPath, ['bench/run.mjs', '--compare', ...results()]);
  expect(ended.status, ended.stderr).toBe(0);
  expect(ended.stdout).toMatch(/after\/before/);
  expect(ended.stdout).toMatch(/^argument policy: 50 rules, 1,000 decisions .*\dx/m);
});
