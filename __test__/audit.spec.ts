import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Worker } from 'node:worker_threads';
import * as audit from 'ferrule/audit';
import {
  _getToolAuditListenerCountForTesting,
  _resetToolAuditListenersForTesting,
  createRegisteredEvent,
  emitToolAudit,
  getCounterForTesting,
  getHistogramForTesting,
  incrementCounter,
  observeHistogram,
  onToolAudit,
  resetCountersForTesting,
  setGauge,
  snapshotCounters,
  type MetricLabels,
  type ToolAuditEvent,
} from 'ferrule/audit';

const event: ToolAuditEvent = {
  action: 'tool:registered',
  actor: { kind: 'system', id: 'x' },
  target: 't',
  decision: 'success',
  ts: 1,
};

beforeEach(() => {
  resetCountersForTesting();
  _resetToolAuditListenersForTesting();
});
afterEach(() => _resetToolAuditListenersForTesting());

describe('counters (spec 01 section 5.1)', () => {
  it('exports exactly the twelve values', () => {
    expect(Object.keys(audit).sort()).toEqual([
      '_getToolAuditListenerCountForTesting',
      '_resetToolAuditListenersForTesting',
      'createRegisteredEvent',
      'emitToolAudit',
      'getCounterForTesting',
      'getHistogramForTesting',
      'incrementCounter',
      'observeHistogram',
      'onToolAudit',
      'resetCountersForTesting',
      'setGauge',
      'snapshotCounters',
    ]);
  });

  it.each([
    ['a.b', { b: 1, a: 'x', c: true }, 'a.b{a=x,b=1,c=true}'],
    ['a.b', {}, 'a.b'],
    ['a.b', undefined, 'a.b'],
    ['A-B_c.9', undefined, 'A-B_c.9'],
    ['n', { a: '1', _: '2', B: '3' }, 'n{B=3,_=2,a=1}'],
    ['n', { a: undefined as never }, 'n{a=undefined}'],
    ['n', { a: 'x,y={}' }, 'n{a=x,y={}}'],
    ['constructor', undefined, 'constructor'],
    ['toString', { __proto__x: 1 }, 'toString{__proto__x=1}'],
  ] satisfies [string, MetricLabels | undefined, string][])('12: key of %s %o', (name, labels, key) => {
    incrementCounter(name, labels);
    expect(Object.entries(snapshotCounters().counters)).toEqual([[key, 1]]);
    expect(getCounterForTesting(name, labels)).toBe(1);
  });

  it.each(['1bad', 'bad name', '', 'a{b', 'é', 'a\n', '-a'])('12: the name %j is dropped', (name) => {
    incrementCounter(name);
    setGauge(name, 1);
    observeHistogram(name, 1);
    expect(snapshotCounters()).toEqual({ counters: {}, histograms: {}, kinds: {} });
    expect(getCounterForTesting(name)).toBe(0);
    expect(getHistogramForTesting(name)).toEqual([]);
  });

  it('12: counters and gauges share keys, the last writer decides the kind', () => {
    setGauge('g', 3, { z: 1 });
    expect(snapshotCounters().kinds).toEqual({ 'g{z=1}': 'gauge' });
    incrementCounter('g', { z: 1 });
    expect(getCounterForTesting('g', { z: 1 })).toBe(4);
    expect(snapshotCounters().kinds).toEqual({ 'g{z=1}': 'counter' });
    setGauge('g', -1.5, { z: 1 });
    expect(getCounterForTesting('g', { z: 1 })).toBe(-1.5);
  });

  it('adds any number and starts from 0', () => {
    incrementCounter('c', undefined, 5);
    incrementCounter('c', undefined, -7.5);
    incrementCounter('c', undefined, undefined);
    expect(getCounterForTesting('c')).toBe(-1.5);
    incrementCounter('n', undefined, Number.NaN);
    expect(getCounterForTesting('n')).toBeNaN();
  });

  it('keeps histograms raw, in order, apart from counters of the same name', () => {
    for (const value of [3, 1, 2]) observeHistogram('h', value, { a: 1 });
    incrementCounter('h', { a: 1 });
    expect(getHistogramForTesting('h', { a: 1 })).toEqual([3, 1, 2]);
    expect(getCounterForTesting('h', { a: 1 })).toBe(1);
  });

  it('a snapshot is frozen throughout, fresh each time, in first-write order', () => {
    setGauge('z', 1);
    incrementCounter('a');
    observeHistogram('h', 1);
    incrementCounter('z');
    const snapshot = snapshotCounters();
    expect(Object.keys(snapshot.counters)).toEqual(['z', 'a']);
    expect(Object.keys(snapshot.kinds)).toEqual(['z', 'a']);
    const parts = [snapshot, snapshot.counters, snapshot.histograms, snapshot.kinds, snapshot.histograms['h']];
    for (const part of parts) expect(Object.isFrozen(part)).toBe(true);
    incrementCounter('a');
    expect(snapshot.counters['a']).toBe(1);
    expect(snapshotCounters()).not.toBe(snapshot);
  });

  it('survives lone surrogates and values without a text of their own', () => {
    const labels = { a: '\ud800', b: Symbol('s'), c: Object.create(null) } as unknown as MetricLabels;
    incrementCounter('odd', labels);
    incrementCounter('odd', labels);
    expect(getCounterForTesting('odd', labels)).toBe(2);
    expect(Object.keys(snapshotCounters().counters)).toHaveLength(1);
  });

  it('spec 04 9.10: a worker thread counts for itself', async () => {
    incrementCounter('shared.total');
    const addon = new URL('../native/binding.cjs', import.meta.url).pathname;
    const worker = new Worker(
      `const { Realm } = require(${JSON.stringify(addon)}).load();
       const realm = new Realm(); realm.increment('shared.total', 5);
       require('node:worker_threads').parentPort.postMessage(realm.counter('shared.total'));`,
      { eval: true },
    );
    const theirs = await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    await worker.terminate();
    expect(theirs).toBe(5);
    expect(getCounterForTesting('shared.total')).toBe(1);
  });
});

describe('audit bus (spec 01 section 5.2)', () => {
  it('calls listeners at once, in order, with the very event', () => {
    const seen: unknown[] = [];
    onToolAudit((got) => seen.push(['first', got]));
    onToolAudit((got) => seen.push(['second', got]));
    emitToolAudit(event);
    expect(seen).toEqual([
      ['first', event],
      ['second', event],
    ]);
    expect((seen[0] as unknown[])[1]).toBe(event);
  });

  it('the same function counts once and stops once', () => {
    let calls = 0;
    const listener = (): void => {
      calls++;
    };
    const stop = onToolAudit(listener);
    onToolAudit(listener);
    expect(_getToolAuditListenerCountForTesting()).toBe(1);
    emitToolAudit(event);
    stop();
    stop();
    emitToolAudit(event);
    expect([calls, _getToolAuditListenerCountForTesting()]).toEqual([1, 0]);
  });

  it('a listener that throws or rejects harms nobody', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => {
      unhandled.push(reason);
    };
    process.on('unhandledRejection', note);
    let reached = 0;
    onToolAudit(() => {
      throw new Error('sync');
    });
    onToolAudit((async () => {
      throw new Error('async');
    }) as () => void);
    onToolAudit(() => {
      reached++;
    });
    expect(() => emitToolAudit(event)).not.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off('unhandledRejection', note);
    expect([reached, unhandled]).toEqual([1, []]);
  });

  it('may be changed by a listener', () => {
    const seen: string[] = [];
    const stop = onToolAudit(() => {
      seen.push('once');
      stop();
    });
    onToolAudit(() => {
      seen.push('stays');
    });
    emitToolAudit(event);
    emitToolAudit(event);
    expect(seen).toEqual(['once', 'stays', 'stays']);
  });
});

describe('createRegisteredEvent (spec 01 section 5.3)', () => {
  const opts = {
    toolName: 't',
    trustClass: 'mcp-derived',
    sideEffectClass: 'pure',
    hasIdempotencyKey: true,
    streamingHint: false,
    inboundSanitization: 'pass-through',
    truncationStrategy: 'tail',
    maxResultTokens: 5,
    deferLoading: true,
    examplesCount: 2,
  } as const;

  it('puts the options into the metadata, in order', () => {
    const { toolName, ...metadata } = opts;
    const made = createRegisteredEvent({ ...opts, ts: 7 });
    expect(made).toEqual({
      action: 'tool:registered',
      actor: { kind: 'system', id: 'tool-registry' },
      target: toolName,
      decision: 'success',
      ts: 7,
      metadata,
    });
    expect(Object.keys(made.metadata ?? {})).toEqual(Object.keys(metadata));
    expect(made).not.toHaveProperty('context');
  });

  it('is stamped now by default', () => {
    const before = Date.now();
    const { ts } = createRegisteredEvent(opts);
    expect(ts).toBeGreaterThanOrEqual(before);
    expect(ts).toBeLessThanOrEqual(Date.now());
  });
});
