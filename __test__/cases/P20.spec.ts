import { expect, it } from 'vitest';
import type { ToolSource } from 'ferrule/core';
import { createToolRegistry } from 'ferrule/registry';
import { firstParty, make, mcp } from '../registry/support.js';

const sources: ToolSource[] = [firstParty, mcp('Server A'), mcp('server-b')];
const orders = sources.flatMap((a) =>
  sources.flatMap((b) => sources.filter((c) => new Set([a, b, c]).size === 3).map((c) => [a, b, c] as const)),
);

it.each(orders)('P20: the same final names in every order (%o, %o, %o)', async (...order) => {
  expect(orders).toHaveLength(6);
  const registry = createToolRegistry();
  const sent: string[] = [];
  for (const source of order) {
    const server = source.kind === 'mcp' ? source.serverIdentity : 'own';
    // An MCP tool calls its server with the name it was announced with.
    const execute = async () => void sent.push(`${server}:send_email`);
    registry.register(make('send_email', { execute }), source);
  }
  registry.assertNoDuplicates('auto-prefix', { source: firstParty });
  const names = registry.list().map(({ name }) => name);
  expect([...names].sort()).toEqual(['send_email', 'server-a.send_email', 'server-b.send_email']);
  expect(registry.get('send_email')?.__source).toEqual(firstParty);
  await registry.get('server-a.send_email')?.execute({}, undefined as never);
  expect(sent).toEqual(['Server A:send_email']);
});

it.each(orders)('P20: first-party wins under priority in every order (%o, %o, %o)', (...order) => {
  const registry = createToolRegistry();
  for (const source of order) registry.register(make('send_email'), source);
  registry.assertNoDuplicates('priority', { source: mcp('Server A'), priority: 500 });
  expect(registry.list().map(({ __source }) => __source)).toEqual([firstParty]);
});
