/** The tracer that records nothing is a tracer all the same (spec 02 sections 2.12 and 7.4). */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NOOP_TRACER, type AISpan, type Tracer } from 'ferrule/core';
import { bench, entry, run, success } from './kit.js';

afterEach(() => { vi.restoreAllMocks(); });

describe('7.4 the silent tracer', () => {
  it.each<[string, (startSpan: Tracer['startSpan']) => Tracer]>([
    ['a copy', (startSpan) => ({ ...NOOP_TRACER, startSpan })],
    ['an heir', (startSpan) => Object.assign(Object.create(NOOP_TRACER) as Tracer, { startSpan })],
  ])('%s with its own startSpan opens that span for a call', async (_name, make) => {
    const span = { ...NOOP_TRACER.startSpan({ type: 'tool.execute' }), setAttributes: vi.fn(), end: vi.fn() };
    const startSpan = vi.fn(() => span as AISpan);
    const b = bench([entry('t', { execute: async () => 'ran' })]);
    success(await b.one('t', {}, { runContext: run({ tracer: make(startSpan as unknown as Tracer['startSpan']) }) }));
    expect(startSpan).toHaveBeenCalledTimes(1);
    expect(span.setAttributes).toHaveBeenCalled();
    expect(span.end).toHaveBeenCalledTimes(1);
  });

  it.each(['span', 'startSpan'] as const)('a spy on its %s sees the call', async (method) => {
    const spy = vi.spyOn(NOOP_TRACER, method);
    const b = bench([entry('t', { execute: async () => 'ran' })]);
    success(await b.one('t', {}, { runContext: run({ tracer: NOOP_TRACER }) }));
    expect(spy).toHaveBeenCalledTimes(1);
    expect(spy.mock.calls[0]?.[0]).toMatchObject({ type: 'tool.execute', attrs: { 'graphorin.tool.name': 't' } });
  });
});
