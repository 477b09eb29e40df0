import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

// Runs in a worker thread, whose stack is small, of a process of its own, which a fault would kill.
const WORKER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const native = require(workerData + 'native/binding.cjs').load();
  const definitions = { d900: { items: { $ref: '#/definitions/d0' } } };
  for (let i = 0; i < 900; i += 1) definitions['d' + i] = { $ref: '#/definitions/d' + (i + 1) };
  const chain = { definitions, allOf: [{ $ref: '#/definitions/d0' }] };
  const schemas = [
    { type: 'array' },
    { items: { $ref: '#' } },
    { $schema: 'http://json-schema.org/draft-07/schema#', ...chain },
    { $schema: 'https://json-schema.org/draft/2020-12/schema', ...chain },
  ];
  const text = '['.repeat(120) + ']'.repeat(120);
  const at = (depth, run) => (depth === 0 ? run() : at(depth - 1, run));
  let most = 0;
  const probe = (depth) => { most = depth; probe(depth + 1); };
  try { probe(0); } catch {}
  const step = Math.ceil(most / 60);
  let answers = 0;
  for (const schema of schemas) {
    const validator = native.compileJsonSchema(JSON.stringify(schema), false);
    try {
      for (let depth = Math.floor(most / 2); ; depth += step) {
        at(depth, () => validator.check(text));
        answers += 1;
      }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
  parentPort.postMessage(answers);
`;

describe('a check called at the end of the stack', () => {
  it('answers, or JavaScript overflows; the process lives', () => {
    const script = `
      const { Worker } = require('node:worker_threads');
      new Worker(${JSON.stringify(WORKER)}, { eval: true, workerData: ${JSON.stringify(root)} })
        .on('message', (answers) => console.log(answers > 2 ? 'alive' : answers))
        .on('error', (error) => { console.error(error); process.exitCode = 1; });
    `;
    const child = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8', timeout: 60_000 });
    expect([child.signal, child.status, child.stdout.trim(), child.stderr]).toEqual([null, 0, 'alive', '']);
  }, 70_000);
});
