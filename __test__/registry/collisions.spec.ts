import { beforeEach, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import {
  _resetToolAuditListenersForTesting,
  getCounterForTesting,
  getHistogramForTesting,
  onToolAudit,
  resetCountersForTesting,
  snapshotCounters,
} from 'ferrule/audit';
import type { ToolSource } from 'ferrule/core';
import { DuplicateToolNameError, ToolCollisionError } from 'ferrule/errors';
import { createToolRegistry, type CollisionStrategy } from 'ferrule/registry';
import { audited, builtIn, firstParty, make, mcp, names, skill, web } from './support.js';

const ctx = { source: firstParty };

beforeEach(() => {
  resetCountersForTesting();
  _resetToolAuditListenersForTesting();
});

/** Registers one name from several sources. */
function collide(...sources: ToolSource[]) {
  const setup = audited();
  const entries = sources.map((source) => setup.registry.register(make('s'), source));
  setup.events.length = 0;
  return { ...setup, entries };
}

describe('a listener that changes the registry meanwhile', () => {
  it.each(['auto-prefix', 'priority'] as const)('%s: names and numbers still agree', (strategy) => {
    const registry = createToolRegistry({
      emitAudit: (event) => {
        if (event.action === 'tool:collision:detected') registry.unregister(String(event.target));
      },
    });
    for (const name of ['s', 't']) {
      for (const source of [firstParty, mcp('a')]) registry.register(make(name), source);
    }
    registry.assertNoDuplicates(strategy, ctx);
    expect(registry.size()).toBe(registry.list().length);
    expect(registry.list().map((entry) => entry.name)).toContain('s');
  });
});

describe('assertNoDuplicates without a strategy (spec 01 section 6.5)', () => {
  it('is a silent check', () => {
    const { registry, events } = collide(firstParty, mcp('a'), mcp('b'));
    const before = snapshotCounters();
    expect(registry.assertNoDuplicates()).toBeUndefined();
    expect([registry.size(), events, snapshotCounters()]).toEqual([3, [], before]);
  });

  it('needs ctx with a strategy', () => {
    const { registry } = collide(firstParty, mcp('a'));
    const attempt = (): unknown => registry.assertNoDuplicates('manual', undefined as never);
    expect(attempt).toThrow(TypeError);
    expect(attempt).toThrow('ToolRegistry.assertNoDuplicates(strategy, ctx)');
    expect(attempt).toThrow("'ctx' argument is required");
  });

  it('refuses a first-party pair that got in past register', () => {
    // Two entries cannot share a bucket this way in practice; the check is the last line of defence.
    const registry = createToolRegistry();
    registry.register(make('s'));
    expect(() => registry.register(make('s'))).toThrow(DuplicateToolNameError);
    expect(() => registry.assertNoDuplicates()).not.toThrow();
  });
});

describe('auto-prefix (spec 01 section 6.5.1)', () => {
  const x = (count: number): string => 'x'.repeat(count);
  const prefixes: [ToolSource, string, string, string][] = [
    [mcp('linear-mcp'), 'search', 'linear-mcp.search', 'linear-mcp'],
    [mcp('Linear MCP  Server (v2)'), 'a', 'linear-mcp-server-v2.a', 'linear-mcp-server-v2'],
    [mcp('abcdefghijklmnopqrstuvw xyz'), 'a', 'abcdefghijklmnopqrstuvw-.a', 'abcdefghijklmnopqrstuvw-'],
    [mcp('https://mcp.example.com/sse'), 'a', 'https-mcp-example-com-ss.a', 'https-mcp-example-com-ss'],
    [builtIn('Web_Search'), 'a', 'web-search.a', 'web-search'],
    [skill('PDF Processing!'), 's', 'pdf-processing.s', 'pdf-processing'],
    [mcp('###'), 'a', 'mcp-67937276.a', ''],
    [mcp(''), 'a', 'mcp-f3d92c1b.a', ''],
    [mcp('日本'), 'a', 'mcp-f4cc2a42.a', ''],
    [skill('!!'), 'a', 'skill-3b44e19e.a', ''],
    [web('é'), 'a', 'web-search-f4bf650d.a', ''],
    [firstParty, 'a', 'first-party-d5e2f568.a', ''],
    [mcp('linear-mcp'), `t${x(123)}`, `linear-mcp.t${x(107)}-d93935cd`, 'linear-mcp'],
    [mcp('linear-mcp'), `t${'y'.repeat(127)}`, `linear-mcp.t${'y'.repeat(107)}-f174bf5c`, 'linear-mcp'],
    [mcp('linear-mcp'), 'z'.repeat(118), `linear-mcp.${'z'.repeat(108)}-dd3ef791`, 'linear-mcp'],
    [mcp('linear-mcp'), 'z'.repeat(117), `linear-mcp.${'z'.repeat(117)}`, 'linear-mcp'],
  ];
  it.each(prefixes)('12: %o %s', (source, name, to, namespaceSource) => {
    const { registry } = audited();
    registry.register(make(name), builtIn('winner'));
    registry.register(make(name), source);
    const [resolution] = registry.assertNoDuplicates('auto-prefix', ctx);
    expect(resolution).toMatchObject({ renamed: { from: name, to, namespaceSource } });
    expect(to.length).toBeLessThanOrEqual(128);
    expect(names(registry)).toEqual([name, to]);
    expect(getCounterForTesting('tool.collision.auto-prefix-applied.total', { namespaceSource })).toBe(1);
  });

  it('10.2, 10.5: first-party and two servers; one resolution a loser, in bucket order', () => {
    const { registry, events, entries } = collide(mcp('a'), firstParty, mcp('b'));
    const resolutions = registry.assertNoDuplicates('auto-prefix', ctx);
    expect(Object.isFrozen(resolutions)).toBe(true);
    expect(resolutions).toEqual([
      {
        toolName: 's',
        winner: firstParty,
        losers: [mcp('a')],
        action: 'auto-prefix-applied',
        renamed: { from: 's', to: 'a.s', namespaceSource: 'a' },
      },
      {
        toolName: 's',
        winner: firstParty,
        losers: [mcp('b')],
        action: 'auto-prefix-applied',
        renamed: { from: 's', to: 'b.s', namespaceSource: 'b' },
      },
    ]);
    expect(names(registry)).toEqual(['s', 'a.s', 'b.s']);
    expect(registry.get('s')).toBe(entries[1]);
    expect(events.map(({ action, target, decision, metadata }) => [action, target, decision, metadata])).toEqual([
      [
        'tool:collision:detected',
        's',
        'success',
        { strategy: 'auto-prefix', sources: ['mcp:a', 'first-party', 'mcp:b'] },
      ],
      ['tool:collision:auto-prefix-applied', 's', 'success', { renamed: { from: 's', to: 'a.s' } }],
      ['tool:collision:auto-prefix-applied', 's', 'success', { renamed: { from: 's', to: 'b.s' } }],
    ]);
    expect(getCounterForTesting('tool.collision.detected.total', { strategy: 'auto-prefix' })).toBe(1);
    expect(getHistogramForTesting('tool.collision.resolution.duration_ms', { strategy: 'auto-prefix' })).toHaveLength(1);
    expect(registry.assertNoDuplicates('auto-prefix', ctx)).toEqual([]);
    expect(getHistogramForTesting('tool.collision.resolution.duration_ms', { strategy: 'auto-prefix' })).toHaveLength(2);
  });

  it('10.3: among outsiders the more trusted keeps the name, else the earlier', () => {
    const servers = collide(mcp('a'), mcp('b'));
    servers.registry.assertNoDuplicates('auto-prefix', { source: mcp('b'), priority: 1000 });
    expect(names(servers.registry)).toEqual(['s', 'b.s']);
    const trusted = collide(mcp('a'), skill('k'));
    trusted.registry.assertNoDuplicates('auto-prefix', ctx);
    expect(names(trusted.registry)).toEqual(['s', 'a.s']);
    expect(trusted.registry.get('s')).toBe(trusted.entries[1]);
  });

  it('10.4: between built-in and first-party the earlier wins', () => {
    const first = collide(builtIn('x'), firstParty);
    first.registry.assertNoDuplicates('auto-prefix', ctx);
    expect(names(first.registry)).toEqual(['s', 'first-party-d5e2f568.s']);
    const second = collide(firstParty, builtIn('Files'));
    second.registry.assertNoDuplicates('auto-prefix', ctx);
    expect(names(second.registry)).toEqual(['s', 'files.s']);
  });

  it('10.6, 10.7, 12: a name that is taken suppresses the loser, the occupant stays', () => {
    const same = collide(firstParty, mcp('A b'), mcp('a-B'));
    const resolutions = same.registry.assertNoDuplicates('auto-prefix', ctx);
    expect(resolutions.map(({ action }) => action)).toEqual(['auto-prefix-applied', 'suppressed']);
    expect(names(same.registry)).toEqual(['s', 'a-b.s']);
    expect(resolutions[1]).toEqual({ toolName: 's', winner: firstParty, losers: [mcp('a-B')], action: 'suppressed' });
    expect(same.events.at(-1)).toMatchObject({
      action: 'tool:collision:suppressed',
      decision: 'denied',
      target: 's',
      metadata: { winner: 'first-party', loser: 'mcp:a-B' },
    });
    expect(getCounterForTesting('tool.collision.suppressed.total')).toBe(1);

    const { registry } = audited();
    const occupant = registry.register(make('m.s'), skill('other'));
    registry.register(make('s'));
    registry.register(make('s'), mcp('m'));
    registry.assertNoDuplicates('auto-prefix', ctx);
    expect(names(registry)).toEqual(['m.s', 's']);
    expect(registry.get('m.s')).toBe(occupant);
  });

  it('10.9, spec 04 9.2: a renamed entry keeps every other property by identity, and is frozen', () => {
    const mark = Symbol.for('graphorin.SubAgentTool');
    const tool = Object.assign(
      make('s', { tags: ['x'], preferredModel: { name: 'p', modelId: 'm' }, maxResultTokens: 5, defer_loading: true }),
      { [mark]: { agent: true }, extra: {} },
    );
    const { registry } = audited();
    registry.register(make('s'));
    const before = registry.register(tool, mcp('m'));
    registry.assertNoDuplicates('auto-prefix', ctx);
    const after = registry.get('m.s');
    expect(Reflect.ownKeys(after as object)).toEqual(Reflect.ownKeys(before));
    for (const key of Reflect.ownKeys(before)) {
      const [was, is] = [before, after].map((entry) => (entry as unknown as Record<PropertyKey, unknown>)[key]);
      if (key === 'name') expect(is).toBe('m.s');
      else expect(is).toBe(was);
    }
    expect(Object.isFrozen(after)).toBe(true);
    expect(registry.get('m.s')).toBe(after);
  });

  it('6.4, 10.9: a renamed entry is one plain object, whenever and however it is looked at first', () => {
    const { registry } = collide(firstParty, mcp('a'), mcp('b'));
    registry.assertNoDuplicates('auto-prefix', ctx);
    expect(registry.size()).toBe(3);
    const found = registry.get('a.s');
    expect(registry.list()[1]).toBe(found);
    expect(registry.get('a.s')).toBe(found);
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
    // Gone without ever having been looked at.
    expect([registry.unregister('b.s'), registry.get('b.s'), registry.size()]).toEqual([true, undefined, 2]);
    expect(registry.register(make('b.s'), mcp('b'))).toBe(registry.get('b.s'));
  });

  it('6.4: a key named __proto__ stays a key under the new name', () => {
    const extra = JSON.parse('{"__proto__":{"polluted":true}}') as object;
    const registry = createToolRegistry();
    registry.register(make('s'));
    registry.register(Object.defineProperties(make('s'), Object.getOwnPropertyDescriptors(extra)), mcp('a'));
    registry.assertNoDuplicates('auto-prefix', ctx);
    const found = registry.get('a.s')!;
    expect(found.name).toBe('a.s');
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(found, '__proto__')?.value).toEqual({ polluted: true });
    expect('polluted' in found).toBe(false);
  });

  it('6.5.4, 11 no. 18: a refresh after a rename is suppressed unless the renamed name is removed first', () => {
    const { registry } = collide(firstParty, mcp('m'));
    registry.assertNoDuplicates('auto-prefix', ctx);
    const stale = registry.get('m.s');
    registry.register(make('s', { description: 'new' }), mcp('m'));
    expect(registry.assertNoDuplicates('auto-prefix', ctx)[0]?.action).toBe('suppressed');
    expect(registry.get('m.s')).toBe(stale);
    registry.unregister('m.s');
    registry.register(make('s', { description: 'new' }), mcp('m'));
    registry.assertNoDuplicates('auto-prefix', ctx);
    expect(registry.get('m.s')?.description).toBe('new');
  });

  it('counts and rows are the same whether or not anybody listens', () => {
    const run = (): unknown => {
      resetCountersForTesting();
      const registry = createToolRegistry();
      for (const name of ['a', 'b', 'c']) {
        for (const source of [firstParty, mcp('A b'), mcp('a-B'), web('w')]) registry.register(make(name), source);
      }
      registry.assertNoDuplicates('auto-prefix', ctx);
      return Object.entries(snapshotCounters().counters);
    };
    const silent = run();
    const seen: number[] = [];
    onToolAudit(() => void seen.push(getCounterForTesting('tool.collision.suppressed.total')));
    expect(run()).toEqual(silent);
    // A listener reads counts that are never behind: the last row comes before the third suppression.
    expect(seen.at(-1)).toBe(3);
  });
});

describe('priority (spec 01 section 6.5.2)', () => {
  it('first-party precedence beats any priority', () => {
    const { registry, events } = collide(mcp('m'), firstParty, skill('k'));
    expect(registry.assertNoDuplicates('priority', { source: mcp('m'), priority: 1000 })).toEqual([
      { toolName: 's', winner: firstParty, losers: [mcp('m'), skill('k')], action: 'first-party-precedence' },
    ]);
    expect(names(registry)).toEqual(['s']);
    expect(events.map(({ action }) => action)).toEqual(['tool:collision:detected']);
    expect(getCounterForTesting('tool.collision.first-party-suppressed.total', { trustClass: 'first-party' })).toBe(1);
  });

  it.each([
    [undefined, 'skill', 'registration-order'],
    [0, 'skill', 'explicit-priority'],
    [39, 'skill', 'explicit-priority'],
    [40, 'mcp', 'explicit-priority'],
    [50, 'mcp', 'explicit-priority'],
    [-5, 'skill', 'explicit-priority'],
  ] as const)('12: boost %s gives %s', (priority, kind, tieBreakReason) => {
    const { registry, events } = collide(mcp('m'), skill('k'));
    const boost = priority === undefined ? {} : { priority };
    const [resolution] = registry.assertNoDuplicates('priority', { source: mcp('m'), ...boost });
    expect(resolution).toMatchObject({ action: 'priority-resolved', winner: { kind }, tieBreakReason });
    expect(registry.get('s')?.__source.kind).toBe(kind);
    expect(events.at(-1)).toMatchObject({ action: 'tool:collision:priority-resolved', metadata: { tieBreakReason } });
    expect(getCounterForTesting('tool.collision.priority-resolved.total', { tieBreakReason })).toBe(1);
  });

  it('the ladder, then who came first', () => {
    const ladder = [skill('k'), skill('k', false), mcp('m'), web('w')];
    for (let at = 0; at + 1 < ladder.length; at++) {
      const { registry } = collide(ladder[at + 1] as ToolSource, ladder[at] as ToolSource);
      registry.assertNoDuplicates('priority', ctx);
      expect(registry.get('s')?.__source).toEqual(ladder[at]);
    }
    const equal = collide(mcp('b'), mcp('a'));
    equal.registry.assertNoDuplicates('priority', ctx);
    expect(equal.registry.get('s')?.__source).toEqual(mcp('b'));
  });
});

describe('manual (spec 01 section 6.5.3)', () => {
  it('throws at the first collision and leaves the registry alone', () => {
    const { registry, events } = collide(mcp('a'), skill('k', false), web('w'));
    let thrown: unknown;
    try {
      registry.assertNoDuplicates('manual', ctx);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ToolCollisionError);
    expect(thrown).toMatchObject({
      toolName: 's',
      conflictingSources: ['mcp:a', 'skill:k#untrusted', 'web-search:w'],
      strategyAttempted: 'manual',
      hint: 'Choose one of: auto-prefix, priority, filter-incoming.',
    });
    expect(registry.size()).toBe(3);
    expect(events.at(-1)).toMatchObject({
      action: 'tool:collision:manual-rejected',
      decision: 'denied',
      metadata: { strategy: 'manual', sources: ['mcp:a', 'skill:k#untrusted', 'web-search:w'] },
    });
    expect(getCounterForTesting('tool.collision.manual-rejected.total')).toBe(1);
    expect(getHistogramForTesting('tool.collision.resolution.duration_ms', { strategy: 'manual' })).toEqual([]);
  });

  it('with a first-party participant the others are gone by then', () => {
    const { registry } = collide(mcp('a'), firstParty);
    expect(() => registry.assertNoDuplicates('manual', ctx)).toThrow(ToolCollisionError);
    expect(names(registry)).toEqual(['s']);
    expect(registry.get('s')?.__source).toEqual(firstParty);
    expect(getCounterForTesting('tool.collision.first-party-suppressed.total', { trustClass: 'first-party' })).toBe(1);
  });

  it('returns an empty frozen list when nothing collides', () => {
    const resolutions = audited().registry.assertNoDuplicates('manual', ctx);
    expect([resolutions, Object.isFrozen(resolutions)]).toEqual([[], true]);
  });
});

it('6.5.4: an unknown strategy resolves first-party names only', () => {
  const { registry } = collide(mcp('a'), mcp('b'));
  expect(registry.assertNoDuplicates('other' as CollisionStrategy, ctx)).toEqual([]);
  expect(registry.size()).toBe(2);
  const own = collide(mcp('a'), firstParty);
  expect(own.registry.assertNoDuplicates('other' as CollisionStrategy, ctx)[0]?.action).toBe('first-party-precedence');
});

it('after auto-prefix no name is left to two sources, and none got longer than 128 (property)', () => {
  const source = fc.oneof(
    fc.constantFrom<ToolSource>(firstParty, builtIn('x'), web('w')),
    fc.string({ maxLength: 8 }).map(mcp),
    fc.tuple(fc.string({ maxLength: 8 }), fc.boolean()).map(([name, trusted]) => skill(name, trusted)),
  );
  const name = fc.oneof(fc.constantFrom('s', 't', 'x.s', 'then', '__proto__', 'constructor'), fc.constant('n'.repeat(126)));
  fc.assert(
    fc.property(fc.array(fc.tuple(name, source), { maxLength: 25 }), (registrations) => {
      const registry = createToolRegistry();
      for (const [toolName, toolSource] of registrations) {
        try {
          registry.register(make(toolName), toolSource);
        } catch (error) {
          expect(error).toBeInstanceOf(DuplicateToolNameError);
        }
      }
      const before = registry.list();
      const resolutions = registry.assertNoDuplicates('auto-prefix', ctx);
      const after = names(registry);
      expect(new Set(after).size).toBe(after.length);
      expect(registry.size()).toBe(after.length);
      for (const each of after) expect(each.length).toBeLessThanOrEqual(128);
      const dropped = resolutions.filter(({ action }) => action === 'suppressed').length;
      expect(after.length).toBe(before.length - dropped);
      for (const entry of before) expect(registry.get(entry.name)).toBeDefined();
      expect(registry.assertNoDuplicates('auto-prefix', ctx)).toEqual([]);
    }),
  );
});
