// Runs the built package: `npm run setup` comes first.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('2.5 examples/lethal-trifecta blocks both ways out', () => {
  const main = fileURLToPath(new URL('../../examples/lethal-trifecta/main.mjs', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [main], { encoding: 'utf8', timeout: 20_000 });
  expect(stderr).toBe('');
  expect(stdout).toContain('tool:dataflow:blocked send_mail (untrusted-to-sink)');
  expect(stdout).toContain('tool:dataflow:blocked send_mail (lethal-trifecta)');
  expect(stdout).toContain('none of them a leak');
  expect(status).toBe(0);
});
