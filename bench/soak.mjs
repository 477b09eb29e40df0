// A soak of the executor: a million calls, with the memory printed on the way. Not part of `npm test`.
//
//   node --expose-gc bench/soak.mjs [calls]
//
// Ends with exit code 1 when heap or resident memory grew between the first tenth and the end.
import { NOOP_TRACER } from 'ferrule/core';
import { createToolExecutor, ToolRateLimitError } from 'ferrule/executor';

const total = Number(process.argv[2] ?? 1_000_000);
const MIB = 1_048_576;
const MOST_GROWTH_MIB = { heapUsed: 8, rss: 64 };

const loose = { parse: (data) => data, safeParse: (data) => ({ success: true, data }) };
const strict = { parse: () => undefined, safeParse: () => ({ success: false, error: { name: 'E', message: 'no', issues: [] } }) };
const entry = (name, fields = {}) => ({
  name, description: name, inputSchema: loose, inboundSanitization: 'pass-through', truncationStrategy: 'middle', maxResultTokens: 16_384,
  __trustClass: 'first-party-user-defined', __sideEffectClass: 'read-only', __source: { kind: 'first-party' },
  __hasIdempotencyKey: false, __streamingHint: fields.streamingHint === true, execute: async (input) => input, ...fields,
});
let busy = 0;
const entries = [
  entry('plain'),
  entry('waits', { execute: () => new Promise((resolve) => setImmediate(resolve)) }),
  entry('throws', { execute: async () => { throw new Error('boom'); } }),
  entry('invalid', { inputSchema: strict }),
  entry('gated', { needsApproval: async () => true }),
  entry('streams', { streamingHint: true, execute: async (_, ctx) => ctx.streamContent({ kind: 'text', text: 'x'.repeat(200) }) }),
  entry('busy', { execute: async () => { if ((busy += 1) % 2 === 1) throw new ToolRateLimitError('slow', { retryAfterMs: 0 }); } }),
];
const map = new Map(entries.map((one) => [one.name, one]));
const names = ['plain', 'plain', 'plain', 'waits', 'throws', 'plain', 'invalid', 'gated', 'streams', 'unknown'];
const executor = createToolExecutor({
  registry: { get: (name) => map.get(name) },
  approvalGate: { request: async () => ({ granted: true }) },
  streamingSink: () => {},
  emitAudit: () => {},
});
const runContext = {
  runId: 'soak', sessionId: 's', agentId: 'a', deps: {}, tracer: NOOP_TRACER, signal: new AbortController().signal, usage: {}, stepNumber: 1, messages: [], state: {},
};

async function settled() {
  for (let round = 0; round < 3; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    globalThis.gc?.();
  }
  return process.memoryUsage();
}

const BATCH = 1_000;
const started = performance.now();
const mark = Math.max(BATCH, Math.ceil(total / 10 / BATCH) * BATCH);
let first;
for (let done = 0; done < total; ) {
  const calls = Array.from({ length: BATCH }, (_, at) => ({ toolCallId: `c${at}`, toolName: names[at % names.length], args: { at } }));
  await executor.executeBatch({ calls, runContext, stepNumber: 1 });
  await executor.executeOne({ call: { toolCallId: 'b', toolName: 'busy', args: {} }, runContext, stepNumber: 1 });
  done += BATCH;
  if (done % mark !== 0 && done < total) continue;
  const memory = await settled();
  first ??= memory;
  const mib = (key) => (memory[key] / MIB).toFixed(1).padStart(7);
  const each = (((performance.now() - started) / done) * 1_000).toFixed(1);
  console.log(`${String(done).padStart(9)} calls  heap ${mib('heapUsed')} MiB  rss ${mib('rss')} MiB  external ${mib('external')} MiB  ${each} µs each`);
}
const last = await settled();
for (const [key, most] of Object.entries(MOST_GROWTH_MIB)) {
  const grown = (last[key] - first[key]) / MIB;
  if (grown > most) {
    console.error(`${key} grew by ${grown.toFixed(1)} MiB; at most ${most} MiB is flat`);
    process.exitCode = 1;
  }
}
