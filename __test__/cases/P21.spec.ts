import { expect, it } from 'vitest';
import { tool } from 'ferrule/builder';
import { createToolRegistry } from 'ferrule/registry';
import { make, mcp } from '../registry/support.js';

const odd = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'then', 'valueOf', 'prototype'];

it.each(odd)('P21: %s is a name like any other', async (name) => {
  const registry = createToolRegistry();
  expect(registry.get(name)).toBeUndefined();
  expect(registry.unregister(name)).toBe(false);
  expect(registry.fingerprint(name)).toBeUndefined();
  const entry = registry.register(tool({ ...make(name, { defer_loading: true }) }));
  expect(registry.get(name)).toBe(entry);
  expect((await registry.searchDeferred(name)).map((match) => match.name)).toEqual([name]);
  registry.register(make(name), mcp('m'));
  registry.assertNoDuplicates('auto-prefix', { source: mcp('m') });
  expect(registry.list().map((each) => each.name)).toEqual([name, `m.${name}`]);
  expect(registry.unregister(name)).toBe(true);
  expect(registry.get(name)).toBeUndefined();
});

it('P21: a registry is no thenable, whatever it holds', async () => {
  const registry = createToolRegistry();
  registry.register(make('then'));
  expect(await registry).toBe(registry);
});
