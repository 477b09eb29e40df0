/** P27: parallel results are paired by position. Duplicate ids get a record each (issue 4). */
import { expect, it } from 'vitest';
import { bench, call, entry, failure, sleep, success } from '../executor/kit.js';

it('P27: slow, fast, fast, the same tool: call order out, completion order in the events, one failure alone', async () => {
  const b = bench([entry('t', { execute: async ({ ms, fail }: { ms: number; fail?: boolean }) => { await sleep(ms); if (fail) throw new Error(`failed ${ms}`); return ms; } })]);
  const calls = [call('t', { ms: 50 }, 'a'), call('t', { ms: 1 }, 'b'), call('t', { ms: 1, fail: true }, 'c')];
  const records = await b.batch(calls);
  expect(records.map((record) => record.call.toolCallId)).toEqual(['a', 'b', 'c']);
  expect([success(records[0]!).output, success(records[1]!).output]).toEqual([50, 1]);
  expect(failure(records[2]!).message).toBe('failed 1');
  const ends = b.events.filter((event) => event.type === 'tool.execute.end' || event.type === 'tool.execute.error');
  expect(ends.at(-1)!.toolCallId).toBe('a');
  expect(b.events.every((event) => ['a', 'b', 'c'].includes(event.toolCallId))).toBe(true);
});
