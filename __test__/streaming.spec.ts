/** The streaming channel on its own and in a call (spec 02 section 10). */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { getCounterForTesting, getHistogramForTesting, resetCountersForTesting } from 'ferrule/audit';
import * as streaming from 'ferrule/streaming';
import { createStreamingChannel, DEFAULT_MAX_BUFFER_BYTES } from 'ferrule/streaming';
import type { StreamingChannel, StreamingChannelOptions, StreamingEvent } from 'ferrule/streaming';
import { bench, counters, entry, failure, sleep, success, type Loose } from './executor/kit.js';

type Ctx = { streamContent(chunk: unknown): void; reportProgress(current: number, total?: number, message?: string): void };
const text = (value: string) => ({ kind: 'text' as const, text: value });
const delta = (path: string, value: unknown) => ({ kind: 'json-delta' as const, path, value });
const image = (length: number) => ({ kind: 'image' as const, data: new Uint8Array(length), mediaType: 'image/png' });
const EMITTED = 'tool.streaming.events.emitted.total';

function open(options: Partial<StreamingChannelOptions> = {}) {
  const events: StreamingEvent[] = [];
  const channel = createStreamingChannel({ toolName: 't', toolCallId: 'c', stepNumber: 2, sink: (event) => { events.push(event); }, ...options });
  return { channel, events };
}

beforeEach(() => resetCountersForTesting());

describe('10 the channel', () => {
  it('1.2: exports, the default, four methods, not frozen', () => {
    expect(Object.keys(streaming).sort()).toEqual(['DEFAULT_MAX_BUFFER_BYTES', 'createStreamingChannel']);
    expect(DEFAULT_MAX_BUFFER_BYTES).toBe(8_388_608);
    const { channel } = open();
    expect(Object.keys(channel).sort()).toEqual(['abort', 'reportProgress', 'snapshot', 'streamContent']);
    expect(Object.isFrozen(channel)).toBe(false);
  });

  it('10.4: synchronous, in call order, with gap-free indexes and absent optional keys', () => {
    const { channel, events } = open({ now: () => 42 });
    const { reportProgress, streamContent } = channel;
    reportProgress(1);
    expect(events).toHaveLength(1);
    const chunk = text('a');
    streamContent(chunk);
    reportProgress(2, 10, 'half');
    streamContent(delta('/x', 1));
    streamContent(image(3));
    expect(events).toEqual([
      { type: 'tool.execute.progress', toolName: 't', toolCallId: 'c', current: 1, stepNumber: 2, ts: 42 },
      { type: 'tool.execute.partial', toolName: 't', toolCallId: 'c', chunk, chunkIndex: 0, stepNumber: 2, ts: 42 },
      { type: 'tool.execute.progress', toolName: 't', toolCallId: 'c', current: 2, total: 10, message: 'half', stepNumber: 2, ts: 42 },
      expect.objectContaining({ chunkIndex: 1 }), expect.objectContaining({ chunkIndex: 2 }),
    ]);
    expect(Object.keys(events[0]!)).not.toContain('total');
    expect((events[1] as Loose)['chunk']).toBe(chunk);
    expect(getCounterForTesting(EMITTED, { toolName: 't', kind: 'progress' })).toBe(2);
    for (const kind of ['partial-text', 'partial-json-delta', 'partial-image']) expect(getCounterForTesting(EMITTED, { toolName: 't', kind })).toBe(1);
    expect(getCounterForTesting('tool.streaming.chunks.bytes.total', { toolName: 't', kind: 'image' })).toBe(3);
    expect(getHistogramForTesting('tool.streaming.event-deliver.duration_us', { toolName: 't' })).toEqual([0, 0, 0, 0, 0]);
  });

  it('10.1: the wall clock is looked up at each use, so a clock faked later governs', () => {
    const seen: StreamingEvent[] = [];
    const channel = createStreamingChannel({ toolName: 't', toolCallId: 'c1', stepNumber: 1, sink: (event) => seen.push(event) });
    const clock = vi.spyOn(Date, 'now').mockReturnValue(42);
    channel.reportProgress(1);
    clock.mockRestore();
    expect(seen[0]?.ts).toBe(42);
  });

  it('10.4: hint off and after abort nothing happens at all', () => {
    const off = open({ streamingHint: false });
    off.channel.reportProgress(1);
    off.channel.streamContent(text('a'));
    const closed = open();
    closed.channel.abort('finished');
    closed.channel.reportProgress(1);
    closed.channel.streamContent(text('a'));
    expect([...off.events, ...closed.events]).toEqual([]);
    expect(off.channel.snapshot()).toEqual({ chunks: [], chunkCount: 0, progressEventCount: 0, totalBytes: 0, bufferTruncated: false });
    expect(closed.channel.snapshot().chunkCount).toBe(0);
    expect(counters()).toEqual({});
  });

  it('10.4: without a sink events are counted, deliveries are not', () => {
    const channel = createStreamingChannel({ toolName: 't', toolCallId: 'c', stepNumber: 1 });
    channel.streamContent(text('ab'));
    expect(getCounterForTesting(EMITTED, { toolName: 't', kind: 'partial-text' })).toBe(1);
    expect(getHistogramForTesting('tool.streaming.event-deliver.duration_us', { toolName: 't' })).toEqual([]);
    expect(channel.snapshot().totalBytes).toBe(2);
  });

  it.each([
    [text('häß\u{1F600}'), 5], [delta('/ab', { x: 1 }), 3 + 7], [delta('', undefined), 0], [delta('/p', 10n), 2],
    [delta('/p', () => 1), 2], [image(9), 9], [text(''), 0],
  ])('10.6: size of chunk %#', (chunk, size) => {
    const { channel } = open();
    channel.streamContent(chunk as never);
    expect(channel.snapshot().totalBytes).toBe(size);
  });

  it('10.6: the cap is per chunk: an over-large one is delivered, not kept; a later small one fits', () => {
    const { channel, events } = open({ maxBufferBytes: 5 });
    channel.streamContent(text('abc'));
    channel.streamContent(text('defg'));
    channel.streamContent(text('hi'));
    channel.streamContent(text('j'));
    const state = channel.snapshot();
    expect(state.chunks.map((chunk) => 'text' in chunk && chunk.text)).toEqual(['abc', 'hi']);
    expect(state).toMatchObject({ chunkCount: 2, totalBytes: 5, bufferTruncated: true });
    expect(events).toHaveLength(4);
    expect(getCounterForTesting('tool.streaming.buffer.dropped-bytes.total', { toolName: 't', kind: 'text' })).toBe(5);
    expect(getCounterForTesting('tool.streaming.chunks.bytes.total', { toolName: 't', kind: 'text' })).toBe(10);
  });

  it('10.6: exactly at the cap fits, and no cap hit leaves the flag alone', () => {
    const { channel } = open({ maxBufferBytes: 4 });
    channel.streamContent(text('abcd'));
    expect(channel.snapshot()).toMatchObject({ bufferTruncated: false, totalBytes: 4 });
    const none = open({ maxBufferBytes: 0 });
    none.channel.streamContent(text('a'));
    expect(none.channel.snapshot()).toMatchObject({ bufferTruncated: true, chunkCount: 0 });
  });

  it('10.3: snapshots are frozen copies with chunks by reference', () => {
    const { channel } = open();
    const chunk = text('a');
    channel.streamContent(chunk);
    const before = channel.snapshot();
    channel.streamContent(text('b'));
    channel.abort('finished');
    expect(before.chunkCount).toBe(1);
    expect(before.chunks[0]).toBe(chunk);
    expect(Object.isFrozen(before) && Object.isFrozen(before.chunks)).toBe(true);
    expect(channel.snapshot().chunkCount).toBe(2);
  });

  it.each([[1, 1], [2, 2], [5, 5], [0, 0]])('10.5: depth %s lets %s nested events through', (eventQueueDepth, through) => {
    const events: StreamingEvent[] = [];
    let depth = 0;
    const channel: StreamingChannel = createStreamingChannel({ toolName: 't', toolCallId: 'c', stepNumber: 1, eventQueueDepth, sink: (event) => {
      events.push(event);
      depth += 1;
      if (depth < 20) channel.streamContent(text(String(depth)));
    } });
    channel.streamContent(text('0'));
    expect(events).toHaveLength(through);
    expect(events.map((event) => 'chunkIndex' in event && event.chunkIndex)).toEqual(events.map((_, at) => at));
    expect(getCounterForTesting('tool.streaming.events.dropped.total', { toolName: 't', reason: 'backpressure' })).toBe(1);
    // A dropped chunk is still buffered, and consumes no index.
    expect(channel.snapshot().chunkCount).toBe(through + 1);
    expect(getCounterForTesting(EMITTED, { toolName: 't', kind: 'partial-text' })).toBe(through);
    channel.reportProgress(1);
    expect(channel.snapshot().progressEventCount).toBe(eventQueueDepth === 0 ? 0 : 1);
  });

  it('10.4: a throwing sink: counters and buffer are done, the depth is restored, no delivery counted', () => {
    let broken = true;
    const events: StreamingEvent[] = [];
    const { channel } = open({ eventQueueDepth: 1, sink: (event) => { if (broken) throw new Error('sink'); events.push(event); } });
    expect(() => channel.streamContent(text('a'))).toThrow('sink');
    expect(() => channel.reportProgress(1)).toThrow('sink');
    expect(channel.snapshot()).toMatchObject({ chunkCount: 1, progressEventCount: 1 });
    broken = false;
    channel.streamContent(text('b'));
    expect(events).toMatchObject([{ chunkIndex: 1 }]);
    expect(getHistogramForTesting('tool.streaming.event-deliver.duration_us', { toolName: 't' })).toEqual([0]);
    expect(getCounterForTesting('tool.streaming.events.dropped.total', { toolName: 't', reason: 'backpressure' })).toBe(0);
  });

  it('10.7: close is idempotent, the first reason wins, silent without records', () => {
    let time = 100;
    const { channel } = open({ now: () => time });
    time = 110;
    channel.reportProgress(1);
    time = 125;
    channel.streamContent(text('a'));
    time = 140;
    channel.abort('cancelled');
    channel.abort('finished');
    channel.abort('cancelled');
    expect(getCounterForTesting('tool.streaming.events.dropped.total', { toolName: 't', reason: 'cancelled' })).toBe(1);
    expect(getHistogramForTesting('tool.streaming.first-chunk.duration_ms', { toolName: 't' })).toEqual([10]);
    expect(getHistogramForTesting('tool.streaming.duration_ms', { toolName: 't' })).toEqual([40]);
    resetCountersForTesting();
    open().channel.abort('finished');
    expect(getHistogramForTesting('tool.streaming.duration_ms', { toolName: 't' })).toEqual([]);
    // Chunks that were only dropped count as recorded.
    const dropped = open({ eventQueueDepth: 0 });
    dropped.channel.streamContent(text('x'));
    dropped.channel.abort('finished');
    expect(getHistogramForTesting('tool.streaming.duration_ms', { toolName: 't' })).toHaveLength(1);
  });
});

describe('10.6, 10.8 streamed output of a call', () => {
  const streams = async (chunks: unknown[], returns: unknown = undefined, fields: Loose = {}) => {
    const b = bench([entry('t', { streamingHint: true, ...fields, execute: async (_: unknown, ctx: Ctx) => { for (const chunk of chunks) ctx.streamContent(chunk); return returns; } })]);
    return { b, outcome: success(await b.one('t')) };
  };

  it('text in order; JSON deltas patch one state; images become parts', async () => {
    expect((await streams([text('a'), text(''), text('b')])).outcome.output).toBe('ab');
    const json = await streams([delta('', { list: [1, 2] }), delta('/list/1', 5), delta('/a/b', 'x'), delta('//a//c', 1)]);
    expect(json.outcome.output).toEqual({ list: [1, 5], a: { b: 'x', c: 1 } });
    const both = await streams([delta('/x', 1), text('wins')]);
    expect(both.outcome.output).toBe('wins');
    const picture = image(2);
    const pictured = await streams([picture, picture]);
    expect(pictured.outcome.output).toBe('');
    expect(pictured.outcome.contentParts).toEqual([{ type: 'image', image: picture.data, mimeType: 'image/png' }, { type: 'image', image: picture.data, mimeType: 'image/png' }]);
    expect((pictured.outcome.contentParts![0] as { image: unknown }).image).toBe(picture.data);
  });

  it('forbidden segments are ignored, prototypes stay clean', async () => {
    for (const path of ['/__proto__/polluted', '/constructor/prototype/polluted', '/a/prototype/x']) {
      const { outcome } = await streams([delta('/ok', 1), delta(path, true)]);
      expect(outcome.output).toEqual({ ok: 1 });
    }
    expect(({} as Loose)['polluted']).toBeUndefined();
  });

  it('a delta onto a primitive root is contained (22 row 33)', async () => {
    const { outcome } = await streams([delta('', 5), delta('/a', 1)]);
    expect(outcome).toBeDefined();
  });

  it.each([[null], [''], [0], [false], ['x']])('an explicit %j wins over the buffer, with the conflict counter', async (value) => {
    const { outcome } = await streams([text('lost')], value);
    expect(outcome.output).toBe(value);
    expect(getCounterForTesting('tool.streaming.return-and-stream-conflict.total', { toolName: 't' })).toBe(1);
  });

  it('no conflict without chunks; nothing streamed and nothing returned is undefined', async () => {
    const { outcome, b } = await streams([]);
    expect(outcome.output).toBeUndefined();
    expect('output' in outcome).toBe(true);
    expect(counters()['tool.streaming.return-and-stream-conflict.total{toolName=t}']).toBeUndefined();
    expect(b.row('tool:execute:streamed')?.metadata).toMatchObject({ chunkCount: 0, totalBytes: 0 });
  });

  it('without the hint the context streams nothing', async () => {
    const { b, outcome } = await streams([text('a')], undefined, { streamingHint: undefined, __streamingHint: false });
    expect(outcome.output).toBeUndefined();
    expect(b.events.map((event) => event.type)).toEqual(['tool.execute.start', 'tool.execute.end']);
    expect(b.actions()).toEqual(['tool:execute:start', 'tool:execute:end']);
  });

  it('10.9: start, what the tool emitted in order, end; counters of a streaming tool', async () => {
    const b = bench([entry('t', { streamingHint: true, execute: async (_: unknown, ctx: Ctx) => { ctx.reportProgress(1); ctx.streamContent(text('a')); await sleep(5); ctx.reportProgress(2); } })]);
    success(await b.one('t'));
    expect(b.events.map((event) => event.type.replace('tool.execute.', ''))).toEqual(['start', 'progress', 'partial', 'progress', 'end']);
    expect(b.events.at(-1)).toMatchObject({ result: 'a', durationMs: expect.any(Number) });
    expect(counters()['tool.streaming.tools.invoked.total{toolName=t}']).toBe(1);
    const wait = bench([entry('t', { streamingHint: true, execute: async (_: unknown, ctx: Ctx) => { await sleep(5); ctx.streamContent(text('a')); } })]);
    await wait.one('t');
    const first = getHistogramForTesting('tool.streaming.first-chunk.duration_ms', { toolName: 't' });
    expect(first).toHaveLength(1);
    expect(first[0]).toBeGreaterThan(0);
  });

  it('7.12: a failure after chunks says so; after empty text only it does not', async () => {
    const run = async (chunks: unknown[]) => failure(await bench([entry('t', { streamingHint: true, execute: async (_: unknown, ctx: Ctx) => { for (const chunk of chunks) ctx.streamContent(chunk); throw new Error('x'); } })]).one('t'));
    expect((await run([text('half')])).hint).toBe('partial output captured in stream buffer');
    expect('hint' in await run([])).toBe(false);
  });

  it('3: queue depth and buffer cap come from the executor\'s options', async () => {
    const b = bench([entry('t', { streamingHint: true, execute: async (_: unknown, ctx: Ctx) => { ctx.streamContent(text('abc')); ctx.streamContent(text('de')); } })], { streamingEventQueueDepth: 0, streamingMaxBufferBytes: 3 });
    expect(success(await b.one('t')).output).toBe('abc');
    expect(b.events.map((event) => event.type)).toEqual(['tool.execute.start', 'tool.execute.end']);
    expect(counters()['tool.streaming.events.dropped.total{reason=backpressure,toolName=t}']).toBe(2);
  });
});

describe('chunks of callers without types', () => {
  it.each([[undefined], [null], ['text'], [{ type: 'text', text: 'abc' }], [{ kind: 'text' }], [{ kind: 'image', data: 'x' }], [{ kind: 'json-delta', value: 1 }], [{ kind: 'video' }], [{ kind: 'toString' }]])(
    '%j is refused by name, and changes nothing',
    (chunk) => {
      const events: unknown[] = [];
      const channel = createStreamingChannel({ toolName: 't', toolCallId: 'c', stepNumber: 1, sink: (event) => events.push(event) });
      expect(() => channel.streamContent(chunk as never)).toThrow(/^streamContent: a chunk is \{ kind: 'text', text \}/);
      channel.streamContent({ kind: 'text', text: 'abc' });
      expect(channel.snapshot()).toMatchObject({ chunkCount: 1 });
      expect(events).toHaveLength(1);
    },
  );
});
