import { expect, it } from 'vitest';
import { createToolRegistry } from 'ferrule/registry';
import { make, mcp } from '../registry/support.js';

// A server may name its tools as it likes; what a provider accepts is the adapter's concern.
it.each(['calendar.createEvent', 'Scan my file', 'a/b', 'n'.repeat(80), '日本語', ''])(
  'P18: the registry keeps the true name %j',
  async (name) => {
    const registry = createToolRegistry();
    const entry = registry.register(make(name, { defer_loading: true, description: 'needle' }), mcp('m'));
    expect(entry.name).toBe(name);
    expect(registry.get(name)).toBe(entry);
    expect((await registry.searchDeferred('needle')).map((match) => match.name)).toEqual([name]);
  },
);

it('P18: names that a wire format would merge stay two', () => {
  const registry = createToolRegistry();
  registry.register(make('a.b'), mcp('m'));
  registry.register(make('a_b'), mcp('m'));
  expect(registry.assertNoDuplicates('auto-prefix', { source: mcp('m') })).toEqual([]);
  expect(registry.size()).toBe(2);
});
