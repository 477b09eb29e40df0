/** P34: a tool that ignores its signal. */
import { expect, it, vi } from 'vitest';
import { bench, deferred, entry, failure, sleep, success } from '../executor/kit.js';

it('P34: settles as timeout, frees its slot exactly once, and what the zombie does later is dropped', async () => {
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  let stop = false;
  let inFlight = 0;
  let peak = 0;
  const zombies: Promise<unknown>[] = [];
  const b = bench([
    entry('zombie', { execute: (): Promise<never> => {
      const zombie = (async () => { for (let turn = 0; !stop; turn += 1) await (turn % 100 === 0 ? sleep(0) : 0); throw new Error('zombie'); })();
      zombies.push(zombie);
      zombie.catch(() => {});
      return zombie;
    } }),
    entry('ok', { execute: async () => { inFlight += 1; peak = Math.max(peak, inFlight); await sleep(5); inFlight -= 1; return 'ok'; } }),
  ], { inlineToolTimeoutMs: 30, maxParallelTools: 2 });
  const records = await b.batch(['zombie', 'zombie', 'ok', 'ok', 'ok', 'ok']);
  expect(records.slice(0, 2).map((record) => failure(record).kind)).toEqual(['timeout', 'timeout']);
  expect(records.slice(2).map((record) => success(record).output)).toEqual(['ok', 'ok', 'ok', 'ok']);
  expect(peak).toBe(2);
  const events = b.events.length;
  stop = true;
  await Promise.allSettled(zombies);
  await sleep(2);
  expect(b.events).toHaveLength(events);
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

it('P34: a late result of an abandoned call does not reach the call that took its slot', async () => {
  const late = deferred<string>();
  const b = bench([entry('slow', { execute: () => late.promise }), entry('next', { execute: async () => { late.resolve('stale'); await sleep(3); return 'own'; } })], { inlineToolTimeoutMs: 10, maxParallelTools: 1 });
  const records = await b.batch(['slow', 'next', 'next']);
  expect(failure(records[0]!).kind).toBe('timeout');
  expect(records.slice(1).map((record) => success(record).output)).toEqual(['own', 'own']);
});
