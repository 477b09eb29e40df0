/** Numbers that are none, or no sensible ones (spec 02 sections 4, 8, 13; 03 section 1.2). */
import { describe, expect, it, vi } from 'vitest';
import { ToolRateLimitError } from 'ferrule';
import { createToolExecutor } from 'ferrule/executor';
import { bench, call, entry, failure, run, success, type Loose } from './kit.js';

const text = 'word '.repeat(100);

describe('03 1.2 caps', () => {
  it.each([
    ['negative', -1, 'keptTokens=-1 '],
    ['NaN', Number.NaN, 'keptTokens=NaN '],
    ['a text of digits', '50', 'keptTokens=50 '],
    ['a text', 'x', 'keptTokens=NaN '],
    ['an empty text', '', 'keptTokens=NaN '],
    ['a symbol', Symbol('s'), 'keptTokens=NaN '],
    ['an object', Object.create(null), 'keptTokens=NaN '],
    ['a BigInt', 60n, 'keptTokens=60 '],
  ])('%s: what is over it is cut, and the batch stands', async (...[, maxResultTokens, kept]) => {
    const b = bench([entry('t', { maxResultTokens, execute: async () => text }), entry('other')]);
    const [cut, other] = await b.batch([call('t'), call('other')]);
    expect(success(cut!).output).toContain(kept);
    expect(success(other!).output).toBe('ok');
  });

  it('0 and Infinity cut nothing', async () => {
    for (const maxResultTokens of [0, -0, Infinity]) {
      expect(success(await bench([entry('t', { maxResultTokens, execute: async () => text })]).one('t')).output).toBe(text);
    }
  });
});

const registry = { get: () => undefined };
const names = ['cancellationGraceMs', 'handleProducerTaintCap', 'imperativeBudgetMs', 'streamingEventQueueDepth', 'streamingMaxBufferBytes', 'inlineToolTimeoutMs'];

it('an option that has to be a number and is none is named when the executor is made', () => {
  const made = (options: Loose) => () => createToolExecutor({ registry, ...options } as never);
  for (const value of ['5', {}, 1n, Symbol('s'), true, Object.create(null)]) {
    for (const name of names) expect(made({ [name]: value })).toThrow(new RegExp(`'${name}' must be a number \\(got ${typeof value}\\)`));
    for (const name of ['maxAttempts', 'backoffMs']) expect(made({ retry: { [name]: value } })).toThrow(RangeError);
  }
});

it.each([Number.NaN, -1, Infinity, 0, 2 ** 40, null])('options of %s neither hang nor lose a call', async (value) => {
  const options = Object.fromEntries(names.map((name) => [name, value]));
  const b = bench([entry('t', { streamingHint: true, execute: async () => text, maxResultTokens: 60, inboundSanitization: 'detect-and-flag' })], options);
  expect(success(await b.one('t')).output).toContain('truncated');
});

it('8 a wait longer than timers are is as long as they can be, not the shortest', async () => {
  vi.useFakeTimers();
  try {
    for (const [retry, retryAfterMs] of [[{ backoffMs: Infinity }, undefined], [{}, 2 ** 40]] as const) {
      const execute = vi.fn(async () => { throw new ToolRateLimitError('later', { retryAfterMs }); });
      const controller = new AbortController();
      const one = bench([entry('t', { execute })], { retry }).one('t', {}, { runContext: run({ signal: controller.signal }) });
      await vi.advanceTimersByTimeAsync(86_400_000);
      expect(execute).toHaveBeenCalledTimes(1);
      controller.abort();
      expect(failure(await one).kind).toBe('rate_limited');
    }
  } finally {
    vi.useRealTimers();
  }
});
