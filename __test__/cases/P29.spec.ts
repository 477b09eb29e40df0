/** P29: control flow is not swallowed by retry. */
import { expect, it } from 'vitest';
import { bench, entry, failure, nothing } from '../executor/kit.js';

it.each([
  ['denied by the gate', { needsApproval: true }, { approvalGate: { request: async () => ({ granted: false }) } }, 'approval_denied'],
  ['asked to suspend', {}, { permissionHook: () => ({ decision: 'defer' }) }, 'approval_denied'],
  ['invalid', { inputSchema: nothing }, {}, 'invalid_input'],
  ['blocked', {}, { argumentPolicy: { evaluate: () => ({ effect: 'forbid', reason: 'r' }) } }, 'capability_blocked'],
])('P29: a call that is %s is tried once under maxAttempts 3', async (_name, fields, options, kind) => {
  const b = bench([entry('t', fields)], { retry: { maxAttempts: 3 }, ...options } as never);
  expect(failure(await b.one('t')).kind).toBe(kind);
  expect(b.tracer.spans).toHaveLength(1);
});

it('P29: an abort is not retried, even when aborted is listed', async () => {
  let runs = 0;
  const controller = new AbortController();
  const b = bench([entry('t', { execute: async () => { runs += 1; controller.abort(); throw new Error('stop'); } })], { retry: { maxAttempts: 3, kinds: ['aborted', 'execution_failed'], backoffMs: 0 } });
  expect(failure(await b.one('t', {}, { runContext: { ...b.runContext, signal: controller.signal } })).kind).toBe('aborted');
  expect(runs).toBe(1);
});
