import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  _resetToolAuditListenersForTesting,
  getHistogramForTesting,
  resetCountersForTesting,
  snapshotCounters,
} from 'ferrule/audit';
import type { AnyTool } from 'ferrule/core';
import { createToolRegistry, type ToolRegistry, type ToolSearchEmbedder } from 'ferrule/registry';
import { audited, builtIn, firstParty, make, mcp } from './support.js';

beforeEach(() => {
  resetCountersForTesting();
  _resetToolAuditListenersForTesting();
});

const deferred = (name: string, patch: Partial<AnyTool> = {}) => make(name, { defer_loading: true, ...patch });

function catalogue(): ToolRegistry {
  const registry = createToolRegistry();
  registry.register(
    deferred('search_issues', {
      description: 'Search the project tracker for issues matching a query.',
      tags: ['issues', 'linear'],
    }),
  );
  registry.register(deferred('list_repos', { description: 'List code repositories owned by the user.' }));
  registry.register(
    deferred('send_message', {
      description: 'Send a chat message to a channel on the team messenger.',
      examples: [{ input: {}, output: 1, comment: 'ping the on-call engineer' }],
    }),
  );
  registry.register(deferred('unique_tool_xyz', { description: 'Description without query terms.' }));
  return registry;
}

/** Which stage labels were counted. */
const stages = (): Record<string, number> =>
  Object.fromEntries(
    Object.entries(snapshotCounters().counters)
      .filter(([key]) => key.startsWith('tool.retrieval.search.invoked.total'))
      .map(([key, count]) => [key.replace(/.*\{stage=(.*)\}/, '$1'), count]),
  );

async function search(registry: ToolRegistry, query: string, k?: number): Promise<[string, number, string][]> {
  const matches = await registry.searchDeferred(query, k);
  return matches.map(({ name, score, source }) => [name, score, source]);
}

describe('lexical search (spec 01 sections 6.6 and 12)', () => {
  it.each<[string, [string, number, string][], string]>([
    ['issue tracker', [['search_issues', 1, 'bm25']], 'bm25'],
    ['on-call engineer', [['send_message', 1, 'bm25']], 'bm25'],
    ['xyz', [['unique_tool_xyz', 0.5, 'regex-name']], 'regex-name'],
    [' xyz ', [], 'mixed'],
    ['LINEAR', [['search_issues', 1, 'bm25']], 'bm25'],
    ['zzz', [], 'mixed'],
    ['list', [['list_repos', 1, 'bm25']], 'bm25'],
    ['search', [['search_issues', 1, 'bm25']], 'bm25'],
    ['the of', [], 'mixed'],
  ])('%j', async (query, expected, label) => {
    expect(await search(catalogue(), query, 3)).toEqual(expected);
    expect(stages()).toEqual({ [label]: 1 });
    expect(getHistogramForTesting('tool.retrieval.search.duration_ms', { stage: label })).toHaveLength(1);
  });

  it('a name or tag fills up what words did not find', async () => {
    const registry = catalogue();
    registry.register(deferred('xyzzy', { description: 'The tracker of xyz things.' }));
    expect(await search(registry, 'xyz', 5)).toEqual([
      ['xyzzy', 1, 'bm25'],
      ['unique_tool_xyz', 0.5, 'regex-name'],
    ]);
    expect(stages()).toEqual({ mixed: 1 });
    registry.register(deferred('other', { tags: ['the-XYZ-tag'] }));
    expect((await search(registry, 'xyz', 2)).map(([name]) => name)).toEqual(['xyzzy', 'other']);
  });

  it('an empty pool or a blank query is nothing at all', async () => {
    const registry = createToolRegistry();
    registry.register(make('eager'));
    for (const [target, query] of [[registry, 'eager'], [catalogue(), '  \n'], [catalogue(), '']] as const) {
      const matches = await target.searchDeferred(query);
      expect([matches, Object.isFrozen(matches)]).toEqual([[], true]);
    }
    expect(stages()).toEqual({});
  });

  it('a match is frozen, with its keys in order and its schemas projected', async () => {
    const registry = createToolRegistry();
    registry.register(
      deferred('a', { inputSchema: z.object({ q: z.string() }), outputSchema: z.object({ n: z.number() }) }),
    );
    registry.register(deferred('b', { inputSchema: { parse: () => 0, safeParse: () => 0 } as never }));
    const matches = await registry.searchDeferred('does');
    expect(Object.isFrozen(matches)).toBe(true);
    expect(Object.isFrozen(matches[0]) && !Object.isFrozen(matches[0]?.inputSchema)).toBe(true);
    expect(Object.keys(matches[0] ?? {})).toEqual([
      'name',
      'description',
      'inputSchema',
      'outputSchema',
      'score',
      'source',
    ]);
    expect(matches[0]).toMatchObject({
      name: 'a',
      description: 'Does a.',
      inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
      outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    });
    expect(matches[1]).toMatchObject({ name: 'b', inputSchema: {} });
    expect('outputSchema' in (matches[1] ?? {})).toBe(false);
  });

  it('a field that no JSON Schema can say is reported once, with tool and path; the others are whole', async () => {
    const { registry, events } = audited();
    registry.register(deferred('odd', { inputSchema: z.object({ q: z.string(), m: z.map(z.string(), z.string()) }) }));
    registry.register(deferred('fine', { inputSchema: z.object({ q: z.string() }) }));
    events.length = 0;
    await registry.searchDeferred('does');
    const matches = await registry.searchDeferred('does');
    expect(matches.map(({ inputSchema }) => Object.keys(inputSchema['properties'] as object))).toEqual([['q', 'm'], ['q']]);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      action: 'tool:classification:warn',
      target: 'odd',
      metadata: { kind: 'schema-fallback', side: 'input', detail: 'zod-v4:map', path: 'm' },
    });
  });

  it.each([
    [0, []],
    [-1, []],
    [Number.NaN, []],
    [1, ['t0']],
    [2.5, ['t0', 't1', 't2']],
    [undefined, ['t0', 't1', 't2', 't3', 't4']],
    [Number.POSITIVE_INFINITY, ['t0', 't1', 't2', 't3', 't4', 't5', 't6']],
  ])('k = %s', async (k, expected) => {
    const registry = createToolRegistry();
    for (let at = 0; at < 7; at++) registry.register(deferred(`t${at}`, { description: 'word', tags: ['word'] }));
    expect((await search(registry, 'word', k)).map(([name]) => name)).toEqual(expected);
  });

  it('10.11: an unresolved name appears once, with the data of its first entry', async () => {
    const registry = createToolRegistry();
    registry.register(deferred('a', { description: 'first' }), mcp('m'));
    registry.register(deferred('a', { description: 'second thing' }), mcp('n'));
    registry.register(deferred('b', { description: 'other thing' }));
    const matches = await registry.searchDeferred('second thing');
    expect(matches.map(({ name, description }) => [name, description])).toEqual([
      ['a', 'first'],
      ['b', 'other thing'],
    ]);
  });

  it('the last stage takes the entry that fits', async () => {
    const registry = createToolRegistry();
    registry.register(deferred('a'), mcp('m'));
    registry.register(deferred('a', { description: 'tagged', tags: ['half-tag'] }), mcp('n'));
    const [match] = await registry.searchDeferred('alf-ta');
    expect(match).toMatchObject({ name: 'a', description: 'tagged', source: 'regex-name' });
  });

  it('odd text: lone surrogates, separators, other scripts', async () => {
    const registry = createToolRegistry();
    registry.register(deferred('one\ud800', { tags: ['x\0y'] }));
    registry.register(deferred('two\udfff', { tags: ['ΣΊΣΥΦΟΣ', 'İzmir'] }));
    registry.register(deferred('three\ufffd'));
    const by = async (query: string) => (await search(registry, query)).map(([name]) => name);
    expect(await by('\ud800')).toEqual(['one\ud800']);
    expect(await by('\ufffd')).toEqual(['three\ufffd']);
    expect(await by('x\0y')).toEqual(['one\ud800']);
    expect(await by('σίσυφος')).toEqual(['two\udfff']);
    expect(await by('e\0o')).toEqual([]);
    expect(await by('\ufffdhree')).toEqual([]);
  });

  it('rejects, and does not throw, on a query that is no text', async () => {
    const promise = catalogue().searchDeferred(undefined as never);
    expect(promise).toBeInstanceOf(Promise);
    await expect(promise).rejects.toThrow(TypeError);
  });

  it('10.9: follows unregistering, replacing, renaming and clearing', async () => {
    const registry = catalogue();
    const by = async (query: string) => (await search(registry, query)).map(([name]) => name);
    expect(await by('repositories')).toEqual(['list_repos']);
    registry.unregister('list_repos');
    expect(await by('repositories')).toEqual([]);
    registry.register(deferred('probe', { description: 'Repositories of a server.' }), mcp('Git Hub'));
    registry.register(make('probe'));
    expect(await by('repositories')).toEqual(['probe']);
    registry.assertNoDuplicates('auto-prefix', { source: firstParty });
    expect(await by('repositories')).toEqual(['git-hub.probe']);
    expect(await by('hub')).toEqual(['git-hub.probe']);
    registry.unregister('git-hub.probe');
    registry.register(deferred('probe', { description: 'Mirrors.' }), mcp('Git Hub'));
    registry.register(deferred('probe', { description: 'Replaced mirrors.' }), mcp('Git Hub'));
    expect(await by('mirrors')).toEqual(['probe']);
    expect((await registry.searchDeferred('mirrors'))[0]?.description).toBe('Replaced mirrors.');
    registry.register(make('probe', { description: 'Mirrors.' }), mcp('Git Hub'));
    expect(await by('mirrors')).toEqual([]);
    registry.clear();
    registry.register(deferred('fresh', { description: 'Mirrors.' }));
    expect(await by('mirrors')).toEqual(['fresh']);
    expect(await by('issues')).toEqual([]);
  });
});

describe('semantic search (spec 01 sections 6.6 and 12)', () => {
  type Vectors = Record<string, number[]>;
  interface Spy extends ToolSearchEmbedder {
    calls: string[][];
  }
  function embedder(vectors: Vectors): Spy {
    return {
      calls: [],
      id: () => 'test',
      dim: () => 2,
      async embed(this: Spy, texts, ...rest) {
        expect(rest).toEqual([]);
        this.calls.push([...texts]);
        return texts.map((text) => Float32Array.from(vectors[text.split(' ')[0] ?? ''] ?? [0, 0]));
      },
    };
  }
  const setup = (vectors: Vectors, options: object = {}, tools = ['one', 'two', 'three']) => {
    const spy = embedder({ query: [1, 0], ...vectors });
    const registry = createToolRegistry({ embedder: spy, ...options });
    for (const name of tools) registry.register(deferred(name));
    return { spy, registry };
  };

  it('12: cosine in double precision, inclusive threshold, best first', async () => {
    const { registry, spy } = setup({ one: [0.6, 0.8], two: [1, 0], three: [0, 1] });
    expect(await search(registry, 'query')).toEqual([
      ['two', 1, 'semantic'],
      ['one', 0.6000000095367428, 'semantic'],
    ]);
    expect(stages()).toEqual({ semantic: 1 });
    await registry.searchDeferred('query');
    expect(spy.calls).toEqual([
      ['query'],
      ['one Does one.', 'two Does two.', 'three Does three.'],
      ['query'],
    ]);
    registry.register(deferred('four'));
    await registry.searchDeferred('query');
    expect(spy.calls.slice(3)).toEqual([['query'], ['four Does four.']]);
    registry.clear();
    registry.register(deferred('one'));
    await registry.searchDeferred('query');
    expect(spy.calls.slice(5)).toEqual([['query'], ['one Does one.']]);
  });

  it('semantic matches precede lexical ones, whatever they score', async () => {
    const { registry } = setup({ one: [0.6, 0.8] });
    expect(await search(registry, 'query two one')).toEqual([
      ['one', 0.6000000095367428, 'semantic'],
      ['two', 1, 'bm25'],
    ]);
    expect(stages()).toEqual({ mixed: 1 });
  });

  it('takes k, then drops what is below the threshold', async () => {
    const { registry } = setup({ one: [1, 0], two: [0.9, 0.1], three: [0.8, 0.2] });
    expect(await search(registry, 'query', 2)).toHaveLength(2);
    expect((await search(registry, 'query', -1)).map(([name]) => name)).toEqual(['one', 'two']);
    expect(await search(registry, 'query', 0)).toEqual([]);
  });

  it.each([
    [0, [['one', 1], ['two', 0], ['three', 0]]],
    [1, [['one', 1]]],
    [1.01, []],
  ])('10.15: threshold %s', async (semanticScoreThreshold, expected) => {
    const { registry } = setup({ one: [2, 0], two: [-1, 0] }, { semanticScoreThreshold });
    expect((await search(registry, 'query')).map(([name, score]) => [name, score])).toEqual(expected);
  });

  it.each([
    ['throws', () => { throw new Error('down'); }],
    ['rejects', async () => { throw new Error('down'); }],
    ['answers nothing', async () => []],
    ['answers no list', async () => undefined],
  ])('10.14: an embedder that %s falls back', async (_, embed) => {
    const registry = createToolRegistry({ embedder: { id: () => 'x', dim: () => 2, embed: embed as never } });
    registry.register(deferred('one'));
    expect(await search(registry, 'one')).toEqual([['one', 1, 'bm25']]);
  });

  it('10.14: entries without a vector are skipped', async () => {
    const embed = async (texts: readonly string[]) => (texts.length === 1 ? [Float32Array.of(1, 0)] : [Float32Array.of(1, 0)]);
    const registry = createToolRegistry({ embedder: { id: () => 'x', dim: () => 2, embed } });
    for (const name of ['one', 'two']) registry.register(deferred(name));
    expect(await search(registry, 'query')).toEqual([['one', 1, 'semantic']]);
  });

  it('the embedder is not asked for an empty pool, and sees the query as it is', async () => {
    const { registry, spy } = setup({}, {}, []);
    await registry.searchDeferred('query');
    expect(spy.calls).toEqual([]);
    registry.register(deferred('one'), builtIn('x'));
    await registry.searchDeferred(' QUERY x ');
    expect(spy.calls[0]).toEqual([' QUERY x ']);
  });
});

describe('what a search leaves alone (spec 01 sections 6.8 and 8.7)', () => {
  it('6.8: a tool that was found stays deferred; nobody but its caller makes it callable', async () => {
    const { registry } = audited({ deferLoadingByDefault: true });
    const entry = registry.register(make('weather', { description: 'Weather in a city.' }));
    await expect(registry.searchDeferred('weather')).resolves.toHaveLength(1);
    expect(registry.get('weather')).toBe(entry);
    expect([entry.__effectiveDeferLoading, entry.examplesEagerlyRendered]).toEqual([true, false]);
    expect([registry.listDeferred(), registry.listEager()]).toEqual([[entry], []]);
    expect(registry.get('tool_search')).toBeUndefined();
  });

  it('8.7: bare JSON Schema is registered and found as it is; an example needs a validator', async () => {
    const inputSchema = { type: 'object', properties: { q: { type: 'string' } } };
    const { registry } = audited({ deferLoadingByDefault: true });
    registry.register(make('bare', { inputSchema: inputSchema as never }));
    const [match] = await registry.searchDeferred('bare');
    expect(match?.inputSchema).toBe(inputSchema);
    const exampled = make('exampled', { inputSchema: inputSchema as never, examples: [{ input: { q: 'x' }, output: 1 }] });
    expect(() => registry.register(exampled)).toThrow(TypeError);
  });
});
