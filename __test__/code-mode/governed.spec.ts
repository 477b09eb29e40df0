// Code mode and raw schemas through the real registry and executor: a bridged call is a call like any other.
import { createCodeExecuteTool, projectToolApi } from 'ferrule/code-mode';
import type { RunContext, Tool } from 'ferrule/core';
import { NOOP_TRACER } from 'ferrule/core';
import { createToolExecutor } from 'ferrule/executor';
import { createToolRegistry } from 'ferrule/registry';
import type { CodeModeRunner } from 'ferrule/sandbox';
import { jsonSchema } from 'ferrule/schema';
import { describe, expect, it } from 'vitest';

const runContext = {
  runId: 'r',
  sessionId: 's',
  agentId: 'a',
  deps: {},
  tracer: NOOP_TRACER,
  signal: new AbortController().signal,
  usage: {},
  stepNumber: 1,
  messages: [],
  state: {},
} as unknown as RunContext;

const RAW = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

function setup(run: CodeModeRunner) {
  const registry = createToolRegistry();
  const seen: unknown[] = [];
  const weather: Tool<{ city: string }, unknown> = {
    name: 'weather.lookup',
    description: 'Weather of a city.',
    inputSchema: jsonSchema<{ city: string }>(RAW),
    sideEffectClass: 'read-only',
    secretsAllowed: ['KEY'],
    execute: async (input, ctx) => {
      seen.push(input);
      const secret = await ctx.secrets.require('KEY', { optional: true });
      return { city: input.city, keyed: secret !== null };
    },
  };
  registry.register(weather, { kind: 'mcp', serverIdentity: 'weather' });
  const executor = createToolExecutor({
    registry,
    secretResolver: { resolve: async () => null },
  } as never);
  let calls = 0;
  const one = (toolName: string, args: unknown) =>
    executor.executeOne({ call: { toolCallId: `c${(calls += 1)}`, toolName, args }, runContext, stepNumber: 1 });
  const projection = projectToolApi(registry.listEager());
  registry.register(
    createCodeExecuteTool({
      projection,
      allowedTools: projection.names,
      executeTool: async ({ name, args }) => {
        const { outcome } = await one(name, args);
        if ('kind' in outcome) throw new Error(`${name}: ${outcome.message}`);
        return outcome.output;
      },
      run,
    }),
    { kind: 'built-in', subsystem: 'code-mode' },
  );
  return { one, seen, projection };
}

/** Stands in for the sandbox: "runs" a source that is the JSON of a list of calls. */
const scripted: CodeModeRunner = async ({ source, dispatch }) => {
  const calls = JSON.parse(source) as Array<{ name: string; args: unknown }>;
  try {
    const output = [];
    for (const call of calls) output.push(await dispatch(call));
    return { ok: true, output, toolCalls: calls.length, durationMs: 1 };
  } catch (error) {
    return { ok: false, error: { kind: 'execution-failed', message: (error as Error).message }, toolCalls: 1, durationMs: 1 };
  }
};

describe('a raw JSON Schema tool', () => {
  it('runs with arguments that fit, by reference', async () => {
    const { one, seen } = setup(scripted);
    const args = { city: 'Bern' };
    const { outcome } = await one('weather.lookup', args);
    expect(outcome).not.toHaveProperty('kind');
    expect(seen[0]).toEqual(args);
  });

  it('answers with the path when they do not', async () => {
    const { one, seen } = setup(scripted);
    const { outcome } = await one('weather.lookup', {});
    expect(outcome).toMatchObject({ kind: 'invalid_input' });
    expect(JSON.stringify(outcome)).toContain('city: is required');
    expect(seen).toEqual([]);
  });

  it('shows its type in the projection', () => {
    expect(setup(scripted).projection.signatureFor('weather.lookup')).toBe(
      '/** Weather of a city. */\ntools["weather.lookup"] = (input: { "city": string }): Promise<unknown>',
    );
  });
});

describe('6.4 a bridged call is governed like a direct one', () => {
  it('with validation', async () => {
    const { one } = setup(scripted);
    const { outcome } = await one('code_execute', { source: JSON.stringify([{ name: 'weather.lookup', args: {} }]) });
    expect(outcome).toMatchObject({ kind: 'execution_failed' });
    expect((outcome as { message: string }).message).toContain('weather.lookup');
  });

  it('[BETTER] with the secrets of its own', async () => {
    const { one } = setup(scripted);
    const direct = await one('weather.lookup', { city: 'Bern' });
    const bridged = await one('code_execute', { source: JSON.stringify([{ name: 'weather.lookup', args: { city: 'Bern' } }]) });
    // A denied secret would reject; a missing one is null.
    expect(direct.outcome).not.toHaveProperty('kind');
    expect(bridged.outcome).not.toHaveProperty('kind');
    expect(JSON.stringify((bridged.outcome as { output: unknown }).output)).toContain('keyed');
  });
});
