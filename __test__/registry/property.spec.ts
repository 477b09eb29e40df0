import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import fc from 'fast-check';
import { getCounterForTesting, resetCountersForTesting } from 'ferrule/audit';
import type { ToolSource } from 'ferrule/core';
import { DuplicateToolNameError } from 'ferrule/errors';
import { createToolRegistry, type RegistryEntry } from 'ferrule/registry';
import { firstParty, make, mcp, skill } from './support.js';

type Step =
  | { readonly do: 'register'; readonly name: string; readonly source: ToolSource; readonly text: string; readonly deferred: boolean }
  | { readonly do: 'unregister'; readonly name: string }
  | { readonly do: 'resolve'; readonly strategy: 'auto-prefix' | 'priority' }
  | { readonly do: 'search' }
  | { readonly do: 'clear' };

const name = fc.constantFrom('alpha', 'beta', 'm.alpha', 'then', '__proto__');
const text = fc.array(fc.constantFrom('red', 'blue', 'the', 'tool'), { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('register' as const),
      name,
      source: fc.constantFrom<ToolSource>(firstParty, mcp('m'), mcp('n'), skill('k')),
      text,
      deferred: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('unregister' as const), name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('resolve' as const), strategy: fc.constantFrom('auto-prefix' as const, 'priority' as const) }) },
  { weight: 4, arbitrary: fc.constant({ do: 'search' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'clear' as const }) },
);
const queries = ['red', 'blue red', 'the tool', 'alpha', 'm', 'et', 'nothing'];

/** A registry that holds these entries, in this order, and has never searched. */
function rebuilt(entries: ReadonlyArray<RegistryEntry>) {
  const registry = createToolRegistry();
  for (const entry of entries) registry.register(entry, entry.__source);
  return registry;
}

it('6.3 to 6.6: whatever happens, index, names and counters agree (property)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      resetCountersForTesting();
      const registry = createToolRegistry();
      let eager = 0;
      let deferred = 0;
      for (const each of steps) {
        switch (each.do) {
          case 'register':
            try {
              registry.register(
                make(each.name, { description: each.text, tags: [each.name], defer_loading: each.deferred }),
                each.source,
              );
            } catch (error) {
              expect(error).toBeInstanceOf(DuplicateToolNameError);
            }
            if (each.deferred) deferred++;
            else eager++;
            break;
          case 'unregister':
            registry.unregister(each.name);
            expect(registry.get(each.name)).toBeUndefined();
            break;
          case 'resolve':
            registry.assertNoDuplicates(each.strategy, { source: firstParty });
            break;
          case 'search':
            await registry.searchDeferred('red');
            break;
          case 'clear':
            registry.clear();
        }
        const list = registry.list();
        expect(registry.size()).toBe(list.length);
        expect([...registry.listEager(), ...registry.listDeferred()].length).toBe(list.length);
        for (const entry of list) expect(list).toContain(registry.get(entry.name));
      }
      expect(getCounterForTesting('tool.retrieval.eager.total')).toBe(eager);
      expect(getCounterForTesting('tool.retrieval.deferred.total', { source: 'explicit' })).toBe(deferred);

      const fresh = rebuilt(registry.list());
      for (const query of queries) {
        for (const k of [1, 3, 10]) {
          expect(await registry.searchDeferred(query, k)).toEqual(await fresh.searchDeferred(query, k));
        }
      }
    }),
    { numRuns: 150 },
  );
}, 60_000);

it('spec 04 9.6: thousands of registries come and go, and go they do', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const left: WeakRef<object>[] = [];
  for (let round = 0; round < 1000; round++) {
    const registry = createToolRegistry();
    registry.register(make('a', { defer_loading: true }));
    if (round % 20 === 0) expect(await registry.searchDeferred('does')).toHaveLength(1);
    left.push(new WeakRef(registry));
  }
  // A turn in between: what a promise job still holds lives until then.
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  expect(left.filter((each) => each.deref() !== undefined).length).toBeLessThan(20);
});
