import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createDefaultSpillWriter,
  createFileResultReader,
  createReadResultTool,
  createToolExecutor,
  createToolRegistry,
  tool,
} from 'ferrule';
import { NOOP_TRACER, type CompletedToolCall, type RunContext } from 'ferrule/core';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { SpillNames } from '../../js/executor/host/spill-names.js';

function house() {
  const root = mkdtempSync(join(tmpdir(), 'ferrule-'));
  const registry = createToolRegistry();
  const add = (name: string, text: string, strategy: 'spill-to-file' | 'middle', source?: object): void => {
    const made = tool({
      name,
      description: 'd',
      inputSchema: z.any(),
      sideEffectClass: 'read-only',
      maxResultTokens: 50,
      truncationStrategy: strategy,
      execute: async () => text.repeat(500),
    });
    registry.register(made, source as never);
  };
  add('ours', 'our own data ', 'spill-to-file');
  add('cut', 'only cut short ', 'middle');
  add('theirs', 'stranger text ', 'spill-to-file', { kind: 'mcp', serverIdentity: 'm' });
  registry.register(createReadResultTool({ reader: createFileResultReader({ artifactRoot: root }) }), {
    kind: 'built-in',
    subsystem: 'r',
  });
  const executor = createToolExecutor({ registry, spill: createDefaultSpillWriter({ root }) });
  const call = (toolCallId: string, toolName: string, args: unknown = {}) => ({ toolCallId, toolName, args });
  const context = (runId: string) =>
    ({ runId, sessionId: 's', agentId: 'a', deps: {}, tracer: NOOP_TRACER, signal: new AbortController().signal }) as unknown as RunContext;
  const run = (runId: string, ...calls: ReturnType<typeof call>[]) =>
    executor.executeBatch({ calls, runContext: context(runId), stepNumber: 1 });
  return { root, call, run };
}

const handleOf = (record: CompletedToolCall | undefined): string | undefined =>
  record !== undefined && 'resultHandle' in record.outcome ? record.outcome.resultHandle?.uri : undefined;

it('a second result under a call id of the run gets a name of its own; the first handle keeps its text', async () => {
  const { root, call, run } = house();
  const [first] = await run('run-1', call('call_0', 'ours'));
  const [second] = await run('run-1', call('call_0', 'theirs'));
  const both = await run('run-1', call('call_0', 'theirs'), call('call_0', 'ours'));
  expect([first, second, ...both].map(handleOf)).toEqual([
    'graphorin-spill:run-1/call_0.txt',
    'graphorin-spill:run-1/call_0.2.txt',
    'graphorin-spill:run-1/call_0.3.txt',
    'graphorin-spill:run-1/call_0.4.txt',
  ]);
  const [page] = await run('run-1', call('r', 'read_result', { handle: handleOf(first), maxBytes: 30 }));
  expect(JSON.stringify(page?.outcome)).toContain('our own data');
  expect(JSON.stringify(page?.outcome)).not.toContain('stranger');
  const [foreign] = await run('run-1', call('r', 'read_result', { handle: handleOf(second), maxBytes: 30 }));
  expect(JSON.stringify(foreign?.outcome)).toContain('mcp-derived');
  expect(readdirSync(join(root, 'run-1')).filter((name) => name.endsWith('.txt'))).toHaveLength(4);
});

it('a call that is really called like a numbered name does not meet it', async () => {
  const { call, run } = house();
  await run('run-1', call('c', 'ours'));
  await run('run-1', call('c', 'ours'));
  const [named] = await run('run-1', call('c.2', 'theirs'));
  expect(handleOf(named)).toBe('graphorin-spill:run-1/c.2.2.txt');
});

it('other runs, and results that were not spilled, take no name away', async () => {
  const { call, run } = house();
  await run('run-1', call('c', 'cut'));
  expect(handleOf((await run('run-1', call('c', 'ours')))[0])).toBe('graphorin-spill:run-1/c.txt');
  expect(handleOf((await run('run-2', call('c', 'ours')))[0])).toBe('graphorin-spill:run-2/c.txt');
});

it('thousands of results under one id are named in a time that grows with their number', () => {
  const names = new SpillNames();
  const looks = vi.spyOn(Set.prototype, 'has');
  try {
    for (let at = 1; at <= 5_000; at += 1) expect(names.take('r', 'c')).toBe(at === 1 ? 'c' : `c.${at}`);
    expect(looks.mock.calls.length).toBeLessThan(30_000);
  } finally {
    looks.mockRestore();
  }
});

it('a name given back is the next one given, and forgotten names are free again', () => {
  const names = new SpillNames();
  const take = (): string => names.take('r', 'c');
  expect([take(), take(), take(), take()]).toEqual(['c', 'c.2', 'c.3', 'c.4']);
  names.free('r', 'c', 'c.3');
  expect([take(), take()]).toEqual(['c.3', 'c.5']);
  names.free('r', 'c', 'c');
  expect([take(), take()]).toEqual(['c', 'c.6']);
  for (let at = 0; at < 10_000; at += 1) names.take('r', `other-${at}`);
  expect([take(), take()]).toEqual(['c', 'c.2']);
});
