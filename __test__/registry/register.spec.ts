import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  _resetToolAuditListenersForTesting,
  getCounterForTesting,
  incrementCounter,
  onToolAudit,
  resetCountersForTesting,
  setGauge,
  snapshotCounters,
  type ToolAuditEvent,
} from 'ferrule/audit';
import { DuplicateToolNameError } from 'ferrule/errors';
import { createToolExecutor } from 'ferrule/executor';
import * as room from 'ferrule/registry';
import { createToolRegistry } from 'ferrule/registry';
import { audited, bare, builtIn, firstParty, make, mcp, names, skill, web } from './support.js';

beforeEach(() => {
  resetCountersForTesting();
  _resetToolAuditListenersForTesting();
});

const examples = (count: number) => Array.from({ length: count }, () => ({ input: {}, output: 1 }));
const everything = {
  sandboxPolicy: 'docker',
  maxResultTokens: 0,
  preferredModel: 'fast',
  streamingHint: true,
  defer_loading: true,
} as const;

describe('register (spec 01 section 6.3)', () => {
  it('6.1: the values of the subpath', () => {
    expect(Object.keys(room).sort()).toEqual([
      'DEFAULT_MAX_RESULT_TOKENS',
      'createToolRegistry',
      'defineBm25Index',
      'normaliseTool',
      'tokenise',
    ]);
  });

  it('5.1: counts are there whenever somebody looks, in the order of first writes', () => {
    const registry = createToolRegistry();
    const eager = 'tool.retrieval.eager.total';
    registry.register(make('a'));
    incrementCounter('app.total');
    registry.register(make('b'));
    registry.register(make('c', { defer_loading: true }));
    const deferred = 'tool.retrieval.deferred.total{source=explicit}';
    expect(Object.entries(snapshotCounters().counters)).toEqual([
      [eager, 2],
      ['app.total', 1],
      [deferred, 1],
    ]);
    registry.register(make('d'));
    setGauge(eager, 10);
    expect(snapshotCounters().kinds[eager]).toBe('gauge');
    registry.register(make('e'));
    expect(snapshotCounters().kinds[eager]).toBe('counter');
    expect(getCounterForTesting(eager)).toBe(11);
    registry.register(make('f'));
    resetCountersForTesting();
    expect(snapshotCounters().counters).toEqual({});
    registry.register(make('g', { defer_loading: true }));
    registry.register(make('h'));
    expect(Object.entries(snapshotCounters().counters)).toEqual([
      [deferred, 1],
      [eager, 1],
    ]);
  });

  it('5.1: a name with a line feed is counted like any other', () => {
    const registry = createToolRegistry();
    for (const name of ['two\nlines', 'one']) registry.register(bare(name, { maxResultTokens: 0 }));
    for (const toolName of ['two\nlines', 'one']) {
      expect(getCounterForTesting('tool.result.cap-disabled.total', { toolName })).toBe(1);
    }
  });

  it('9: the full sequence of events and counters', () => {
    const { registry, events } = audited();
    registry.register(bare('u', { ...everything, examples: examples(6) }));
    expect(events.map(({ action, target, decision, metadata }) => [action, target, decision, metadata])).toEqual([
      [
        'tool:classification:warn',
        'u',
        'success',
        { kind: 'missing-classification', source: 'first-party', deferredDefaultApplied: true },
      ],
      [
        'tool:classification:warn',
        'u',
        'success',
        {
          kind: 'sandbox-policy-advisory-inline',
          policy: 'docker',
          hint: expect.stringContaining('inline tools run in-process') as string,
        },
      ],
      [
        'tool:classification:warn',
        'u',
        'success',
        {
          kind: 'idempotency-key-missing-for-side-effecting',
          sideEffectClass: 'side-effecting',
          source: 'first-party',
        },
      ],
      ['tool:examples:overflow', 'u', 'success', { count: 6 }],
      ['tool:result:cap-disabled', 'u', 'success', undefined],
      [
        'tool:registered',
        'u',
        'success',
        {
          trustClass: 'first-party-user-defined',
          sideEffectClass: 'side-effecting',
          hasIdempotencyKey: false,
          streamingHint: true,
          inboundSanitization: 'detect-and-flag',
          truncationStrategy: 'middle',
          maxResultTokens: 0,
          deferLoading: true,
          examplesCount: 6,
        },
      ],
    ]);
    expect('metadata' in (events[4] as object)).toBe(false);
    for (const { actor } of events) expect(actor).toEqual({ kind: 'system', id: 'tool-registry' });
    expect(Object.entries(snapshotCounters().counters)).toEqual([
      ['tool.classification.missing.total{source=first-party}', 1],
      ['tool.classification.deferred-default-applied.total{toolName=u}', 1],
      ['tool.sandbox.advisory.total{toolName=u}', 1],
      ['tool.classification.idempotency-key-missing.total{sideEffectClass=side-effecting,toolName=u}', 1],
      ['tool.examples.overflow.total{toolName=u}', 1],
      ['tool.result.cap-disabled.total{toolName=u}', 1],
      ['tool.preferred-model.hint.declared.total{hintKind=tier-fast,toolName=u}', 1],
      ['tool.retrieval.deferred.total{source=explicit}', 1],
      ['tool.streaming.tools.registered.total{toolName=u}', 1],
    ]);
  });

  it('warns once a name, whatever the source; clear forgets, unregister does not', () => {
    const { registry, events } = audited();
    const count = (): number => events.filter(({ action }) => action === 'tool:classification:warn').length;
    registry.register(bare('a'));
    expect(count()).toBe(2);
    registry.register(bare('a'), skill('s'));
    registry.unregister('a');
    registry.register(bare('a'));
    expect(count()).toBe(2);
    registry.register(bare('b'));
    expect(count()).toBe(4);
    registry.clear();
    registry.register(bare('a'));
    expect(count()).toBe(6);
    expect(getCounterForTesting('tool.classification.missing.total', { source: 'first-party' })).toBe(3);
    // Another class of the same name is another once-key; so is another number of examples.
    registry.register(bare('a'), mcp('m'));
    expect(count()).toBe(7);
    registry.register(make('e', { examples: examples(6) }), mcp('m'));
    registry.register(make('e', { examples: examples(6) }), mcp('m'));
    registry.register(make('e', { examples: examples(7) }), mcp('m'));
    expect(getCounterForTesting('tool.examples.overflow.total', { toolName: 'e' })).toBe(2);
  });

  it('counts hints, deferral and streaming at every registration', () => {
    const registry = createToolRegistry({ deferLoadingByDefault: true });
    const model = { name: 'p', modelId: 'm' };
    for (let round = 0; round < 2; round++) {
      registry.register(make('a', { preferredModel: model, streamingHint: true }), mcp('m'));
      registry.register(make('b', { defer_loading: false }), mcp('m'));
    }
    expect(getCounterForTesting('tool.preferred-model.hint.declared.total', { hintKind: 'spec', toolName: 'a' })).toBe(2);
    expect(getCounterForTesting('tool.retrieval.deferred.total', { source: 'explicit' })).toBe(2);
    expect(getCounterForTesting('tool.retrieval.eager.total')).toBe(2);
    expect(getCounterForTesting('tool.streaming.tools.registered.total', { toolName: 'a' })).toBe(2);
  });

  it('10.1: a second first-party tool is refused at once, after it was counted', () => {
    const { registry, events } = audited();
    const first = registry.register(make('a'));
    expect(() => registry.register(make('a', { streamingHint: true }))).toThrow(DuplicateToolNameError);
    expect(registry.list()).toEqual([first]);
    expect(registry.get('a')).toBe(first);
    expect(events.filter(({ action }) => action === 'tool:registered')).toHaveLength(1);
    expect(getCounterForTesting('tool.retrieval.eager.total')).toBe(2);
    expect(getCounterForTesting('tool.streaming.tools.registered.total', { toolName: 'a' })).toBe(1);
  });

  it('9: the same counters, in the same order, when nobody listens, whatever the name', () => {
    for (const name of ['u', 'line\nfeed', '\n', 'a{b=c}']) {
      const count = (registry: ReturnType<typeof createToolRegistry>): unknown => {
        resetCountersForTesting();
        registry.register(bare(name, { ...everything, examples: examples(6) }));
        registry.register(bare(name, everything), mcp('m'));
        expect(() => registry.register(bare(name))).toThrow(DuplicateToolNameError);
        return Object.entries(snapshotCounters().counters);
      };
      expect(count(createToolRegistry())).toEqual(count(audited().registry));
    }
  });

  it('a faulty tool leaves no trace', () => {
    const { registry, events } = audited();
    expect(() => registry.register(bare('a', { preferredModel: null as never }))).toThrow();
    expect([registry.size(), events, snapshotCounters().counters]).toEqual([0, [], {}]);
  });

  it.each([
    [builtIn('x'), builtIn('x'), true],
    [builtIn('x'), builtIn('y'), false],
    [skill('s'), skill('s'), true],
    [skill('s'), skill('s', false), false],
    [skill('s'), skill('t'), false],
    [mcp('m'), mcp('m'), true],
    [mcp('m'), mcp('n'), false],
    [web('p'), web('p'), true],
    [web('p'), mcp('p'), false],
    [firstParty, builtIn('x'), false],
  ])('same source %o %o: %s', (first, second, same) => {
    const registry = createToolRegistry();
    registry.register(make('other'), firstParty);
    registry.register(make('a'), first);
    registry.register(make('z'), firstParty);
    const entry = registry.register(make('a', { defer_loading: true }), second);
    expect(names(registry)).toEqual(same ? ['other', 'a', 'z'] : ['other', 'a', 'a', 'z']);
    expect(registry.list()[same ? 1 : 2]).toBe(entry);
    expect(getCounterForTesting('tool.registry.same-source-replaced.total', { sourceKind: second.kind, toolName: 'a' })).toBe(same ? 1 : 0);
  });

  it('10.10: a replacement switches from eager to deferred', () => {
    const registry = createToolRegistry();
    registry.register(make('a'), mcp('m'));
    expect([registry.listEager().length, registry.listDeferred().length]).toEqual([1, 0]);
    const entry = registry.register(make('a', { defer_loading: true }), mcp('m'));
    expect([registry.listEager().length, registry.listDeferred()]).toEqual([0, [entry]]);
  });

  it('10.16, 10.17: identity of parts; resolved entries can be registered again', () => {
    const tool = make('a');
    const entry = createToolRegistry().register(tool);
    expect(entry).not.toBe(tool);
    expect([entry.execute, entry.inputSchema]).toEqual([tool.execute, tool.inputSchema]);
    expect(entry.__source).toEqual({ kind: 'first-party' });
    expect(Object.isFrozen(entry.__source)).toBe(true);
    const again = createToolRegistry().register(entry, mcp('m'));
    expect(again).toMatchObject({ __trustClass: 'mcp-derived', __source: mcp('m') });
  });

  it('10.20: listeners hear registries without emitAudit, and only those', () => {
    const heard: ToolAuditEvent[] = [];
    onToolAudit((event) => void heard.push(event));
    createToolRegistry().register(make('a'));
    const { registry, events } = audited();
    registry.register(make('b'));
    expect([heard.map(({ target }) => target), events.map(({ target }) => target)]).toEqual([['a'], ['b']]);
  });

  it('an async emitAudit that fails is no unhandled rejection', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const emitAudit = vi.fn(async () => { throw new Error('server down'); });
    const registry = createToolRegistry({ emitAudit } as never);
    registry.register(make('a'));
    await new Promise((resolve) => setTimeout(resolve, 1));
    process.off('unhandledRejection', unhandled);
    expect(emitAudit).toHaveBeenCalled();
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('what emitAudit throws reaches the caller; it is called as a method of the options', () => {
    const options = {
      seen: [] as string[],
      emitAudit(this: { seen: string[] }, event: ToolAuditEvent) {
        this.seen.push(event.action);
        throw new RangeError('full');
      },
    };
    const registry = createToolRegistry(options);
    expect(() => registry.register(make('a'))).toThrow(RangeError);
    expect(options.seen).toEqual(['tool:registered']);
  });
});

describe('queries (spec 01 section 6.4)', () => {
  it('get prefers first-party and built-in, else the first', () => {
    const registry = createToolRegistry();
    expect(registry.get('a')).toBeUndefined();
    const first = registry.register(make('a'), mcp('m'));
    registry.register(make('a'), mcp('n'));
    expect(registry.get('a')).toBe(first);
    const builtin = registry.register(make('a'), builtIn('x'));
    expect(registry.get('a')).toBe(builtin);
    registry.register(make('a'));
    expect(registry.get('a')).toBe(builtin);
    expect(registry.size()).toBe(4);
  });

  it('lists are fresh, frozen, and hold the same entries', () => {
    const registry = createToolRegistry();
    registry.register(make('a', { tags: ['x', 'y'] }));
    registry.register(make('b', { tags: ['y'], defer_loading: true }));
    registry.register(make('c'));
    for (const list of [registry.list, registry.listEager, registry.listDeferred, () => registry.listByTag('y'), () => registry.listByTag('')]) {
      expect(Object.isFrozen(list())).toBe(true);
      expect(list()).toEqual(list());
    }
    expect(registry.list()[0]).toBe(registry.list()[0]);
    expect(registry.listByTag('y').map(({ name }) => name)).toEqual(['a', 'b']);
    expect(registry.listByTag('Y')).toEqual([]);
    expect(registry.listByTag('')).toEqual([]);
    expect(registry.listByTag('nope')).toEqual([]);
  });

  it('order: first appearance of the name, then registration; unregister and back goes to the end', () => {
    const registry = createToolRegistry();
    const a1 = registry.register(make('a'), mcp('m'));
    const b = registry.register(make('b'));
    const a2 = registry.register(make('a'), mcp('n'));
    expect(registry.list()).toEqual([a1, a2, b]);
    expect([registry.unregister('a'), registry.unregister('a'), registry.unregister('zzz')]).toEqual([true, false, false]);
    registry.register(make('a'));
    expect(names(registry)).toEqual(['b', 'a']);
    registry.clear();
    expect([registry.size(), registry.list(), registry.get('b')]).toEqual([0, [], undefined]);
  });

  it('10.19: counters survive clear', () => {
    const registry = createToolRegistry();
    registry.register(make('a'));
    registry.clear();
    expect(getCounterForTesting('tool.retrieval.eager.total')).toBe(1);
  });

  it('spec 04 9.7, 9.3: functions work detached; the object is plain and writable', async () => {
    const { register, get, list, searchDeferred, size, unregister, clear, drift, fingerprint, assertNoDuplicates } =
      createToolRegistry();
    register(make('a', { defer_loading: true }));
    expect([get('a')?.name, list().length, size()]).toEqual(['a', 1, 1]);
    expect(await searchDeferred('does')).toHaveLength(1);
    expect(assertNoDuplicates()).toBeUndefined();
    expect(drift({ a: fingerprint('a') })).toEqual({ added: [], removed: [], changed: [] });
    expect(unregister('a')).toBe(true);
    clear();
    const registry = createToolRegistry();
    expect(Object.getPrototypeOf(registry)).toBe(Object.prototype);
    registry.get = () => undefined;
    expect({ ...registry }.get('a')).toBeUndefined();
  });
});

it('what registering counts stands before what a call of the same turn counts, and is never late', async () => {
  const registry = createToolRegistry();
  const executor = createToolExecutor({ registry });
  const missing = (name: string) => `tool.classification.deferred-default-applied.total{toolName=${name}}`;
  for (const name of ['first', 'second']) registry.register(make(name, { sideEffectClass: undefined } as never));
  // The registry is not asked for anything in between.
  const run = executor.executeOne({
    call: { toolCallId: '1', toolName: 'second', args: {} },
    runContext: { runId: 'r', sessionId: 's', agentId: 'a', signal: new AbortController().signal } as never,
    stepNumber: 1,
  });
  const keys = Object.keys(snapshotCounters().counters);
  const place = (part: string) => keys.findIndex((key) => key.includes(part));
  expect(place(missing('second'))).toBeGreaterThan(place(missing('first')));
  expect(place('tool.executor.invocations.total{toolName=second}')).toBeGreaterThan(place(missing('second')));
  await run;
  // More than are taken across at once, and then nothing: the turn ends.
  for (let at = 0; at < 700; at += 1) registry.register(make(`more${at}`, { sideEffectClass: undefined } as never));
  await Promise.resolve();
  expect(getCounterForTesting(missing('more699'))).toBe(1);
  resetCountersForTesting();
  registry.register(make('odd', { sideEffectClass: undefined } as never));
  resetCountersForTesting();
  expect(Object.keys(snapshotCounters().counters)).toEqual([]);
});

it('options of null are options not given, as in the executor', async () => {
  const heard: string[] = [];
  onToolAudit(({ action }) => heard.push(action));
  const none = { emitAudit: null, embedder: null, semanticScoreThreshold: null, deferLoadingByDefault: null } as never;
  const registry = createToolRegistry(none);
  registry.register(make('found', { defer_loading: true }));
  expect(heard).toEqual(['tool:registered']);
  expect((await registry.searchDeferred('found')).map(({ name }) => name)).toEqual(['found']);
  const index = room.defineBm25Index([{ id: 'a', text: 'the word' }], { k1: null, b: null, stopwords: null } as never);
  expect(index('the word')).toEqual([{ id: 'a', score: 1 }]);
});
