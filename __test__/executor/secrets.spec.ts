/** The tool context and its secrets (spec 02 section 11, spec 04 section 6.2, issue 4). */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { NOOP_LOGGER, NOOP_TRACER } from 'ferrule/core';
import { buildToolExecutionContext } from 'ferrule/executor';
import { getActiveToolSecretsContext, onSecretsAudit, SecretAccessDeniedError, withToolSecretsContext } from 'ferrule/secrets';
import { createStreamingChannel } from 'ferrule/streaming';
import { bench, entry, failure, run, sleep, success, type Loose } from './kit.js';

type Ctx = { secrets: { require(key: string, options?: { optional?: boolean }): Promise<unknown> } };
const value = { length: 3 };
const resolverOf = (found: unknown = value) => ({ resolve: vi.fn(async (_key: string) => found as never) });

function audited() {
  const rows: Loose[] = [];
  onTestFinished(onSecretsAudit((row) => { rows.push(row as unknown as Loose); }) as () => void);
  return rows;
}

describe('11.1 buildToolExecutionContext', () => {
  it('eight keys, frozen, with defaults and as given', () => {
    const tool = entry('t');
    const runContext = run({ tracer: undefined });
    const { signal } = new AbortController();
    const streamingChannel = createStreamingChannel({ toolName: 't', toolCallId: 'c', stepNumber: 1 });
    const ctx = buildToolExecutionContext({ tool, toolCallId: 'c', runContext, signal, streamingChannel });
    expect(Object.keys(ctx)).toEqual(['toolCallId', 'runContext', 'signal', 'tracer', 'logger', 'secrets', 'reportProgress', 'streamContent']);
    expect(Object.isFrozen(ctx) && Object.isFrozen(ctx.secrets)).toBe(true);
    expect([ctx.runContext, ctx.signal, ctx.tracer, ctx.logger]).toEqual([runContext, signal, NOOP_TRACER, NOOP_LOGGER]);
    expect(ctx.runContext).toBe(runContext);
    ctx.streamContent({ kind: 'text', text: 'a' });
    ctx.reportProgress(1);
    expect(streamingChannel.snapshot()).toMatchObject({ chunkCount: 1, progressEventCount: 1 });
    const tracer = { ...NOOP_TRACER };
    const logger = { ...NOOP_LOGGER };
    const given = buildToolExecutionContext({ tool, toolCallId: 'c', runContext: run({ tracer: NOOP_TRACER }), signal, streamingChannel, tracer: tracer as never, logger: logger as never });
    expect([given.tracer, given.logger]).toEqual([tracer, logger]);
    expect(given.tracer).toBe(tracer);
  });

  it('outside every scope nothing is restricted (11.2)', async () => {
    const resolver = resolverOf();
    const streamingChannel = createStreamingChannel({ toolName: 't', toolCallId: 'c', stepNumber: 1 });
    const ctx = buildToolExecutionContext({ tool: entry('t'), toolCallId: 'c', runContext: run(), signal: new AbortController().signal, streamingChannel, secretResolver: resolver });
    expect(await ctx.secrets.require('ANY')).toBe(value);
  });
});

describe('11.2 ctx.secrets.require', () => {
  const using = (act: (ctx: Ctx) => unknown, fields: Loose = {}) => entry('t', { execute: async (_: unknown, ctx: Ctx) => await act(ctx), ...fields });

  it('an allowed key: the resolver\'s own value, asked again each time', async () => {
    const resolver = resolverOf();
    const b = bench([using(async (ctx) => [await ctx.secrets.require('KEY'), await ctx.secrets.require('KEY')], { secretsAllowed: ['KEY'] })], { secretResolver: resolver });
    const { output } = success(await b.one('t'));
    expect((output as unknown[])[0]).toBe(value);
    expect(resolver.resolve.mock.calls).toEqual([['KEY'], ['KEY']]);
  });

  it('a denied key: the error, one row on the secrets bus, the resolver never asked', async () => {
    const rows = audited();
    const resolver = resolverOf();
    const b = bench([using((ctx) => ctx.secrets.require('OTHER'), { secretsAllowed: ['KEY', 'KEY'] })], { secretResolver: resolver });
    const outcome = failure(await b.one('t'));
    expect(outcome).toMatchObject({ kind: 'execution_failed', message: "Tool 't' is not allowed to access secret 'OTHER' (missing from secretsAllowed)." });
    expect(outcome.cause).toBeInstanceOf(SecretAccessDeniedError);
    expect(outcome.cause).toMatchObject({
      name: 'SecretAccessDeniedError', kind: 'secret-access-denied', key: 'OTHER', toolName: 't', allowedSet: ['KEY'],
      hint: "Add 'OTHER' to the tool's secretsAllowed list, or rotate the secret behind a different key.",
    });
    expect(Object.isFrozen((outcome.cause as { allowedSet: unknown }).allowedSet)).toBe(true);
    expect(rows).toEqual([{
      action: 'secret:get', decision: 'denied', ts: expect.any(Number), source: 'tool-acl', target: 'OTHER',
      actor: { kind: 'tool', toolName: 't', runId: 'run-1', sessionId: 'session-1', id: 'agent-1' },
    }]);
    expect(resolver.resolve).not.toHaveBeenCalled();
    expect(b.actions()).toEqual(['tool:execute:start', 'tool:execute:error']);
  });

  it('denied for optional too; no list means none; exact and case-sensitive', async () => {
    for (const [key, secretsAllowed] of [['KEY', undefined], ['KEY', []], ['key', ['KEY']]] as const) {
      const b = bench([using((ctx) => ctx.secrets.require(key, { optional: true }), { secretsAllowed })], { secretResolver: resolverOf() });
      expect(failure(await b.one('t')).message).toContain('secretsAllowed');
    }
  });

  it.each([
    ['no resolver', undefined, 'Tool "t" requested secret "KEY" but no secrets store is configured for this run.'],
    ['no value', { resolve: async () => null }, 'Tool "t" required secret "KEY" but the secrets store returned no value.'],
  ])('%s: optional gives null, required a plain Error with a hidden kind', async (_name, secretResolver, message) => {
    const options = secretResolver ? { secretResolver } : {};
    const optional = bench([using((ctx) => ctx.secrets.require('KEY', { optional: true }), { secretsAllowed: ['KEY'] })], options);
    expect(success(await optional.one('t')).output).toBeNull();
    const required = bench([using((ctx) => ctx.secrets.require('KEY'), { secretsAllowed: ['KEY'] })], options);
    const outcome = failure(await required.one('t'));
    expect(outcome.message).toBe(message);
    const cause = outcome.cause as Error & { kind: string };
    expect(Object.getPrototypeOf(cause)).toBe(Error.prototype);
    expect(cause.kind).toBe('secret-required');
    expect(Object.keys(cause)).toEqual([]);
    expect(() => { cause.kind = 'x'; }).toThrow();
  });

  it('resolver rejections pass through unchanged', async () => {
    const broke = new Error('vault sealed');
    const b = bench([using((ctx) => ctx.secrets.require('KEY'), { secretsAllowed: ['KEY'] })], { secretResolver: { resolve: () => Promise.reject(broke) } });
    expect(failure(await b.one('t')).cause).toBe(broke);
  });
});

describe('11.3 the scope', () => {
  it('frozen, readable, follows awaits and timers, never seen by a parallel call', async () => {
    const seen: unknown[] = [];
    const b = bench(['a', 'b'].map((name) => entry(name, { secretsAllowed: [name, name], execute: async () => {
      const before = getActiveToolSecretsContext();
      await sleep(name === 'a' ? 4 : 1);
      await new Promise<void>((resolve) => setTimeout(() => { seen.push(getActiveToolSecretsContext() === before); resolve(); }, 2));
      return before;
    } })));
    const records = await b.batch(['a', 'b']);
    expect(seen).toEqual([true, true]);
    const [a] = records.map((record) => success(record).output as Loose);
    expect(a).toEqual({ toolName: 'a', runId: 'run-1', sessionId: 'session-1', agentId: 'agent-1', secretsAllowed: ['a'] });
    expect(Object.isFrozen(a)).toBe(true);
    expect(getActiveToolSecretsContext()).toBeUndefined();
  });

  it('a tool called from within another keeps only what both declare', async () => {
    const resolver = resolverOf();
    const b: ReturnType<typeof bench> = bench([
      entry('inner', { secretsAllowed: ['A', 'B'], execute: async (_: unknown, ctx: Ctx) => { await ctx.secrets.require('A'); return await ctx.secrets.require('B').then(() => 'B', () => 'no B'); } }),
      entry('outer', { secretsAllowed: ['A'], execute: async () => success(await b.one('inner')).output }),
      entry('starving', { execute: async () => failure(await b.one('inner')).message }),
    ], { secretResolver: resolver });
    expect(success(await b.one('outer')).output).toBe('no B');
    expect(success(await b.one('starving')).output).toContain('secretsAllowed');
  });

  it('an accessor handed to another tool obeys both lists', async () => {
    let leaked: Ctx | undefined;
    const resolver = resolverOf();
    const b = bench([
      entry('giver', { secretsAllowed: ['A'], execute: async (_: unknown, ctx: Ctx) => { leaked = ctx; } }),
      entry('taker', { secretsAllowed: ['B'], execute: async () => await leaked!.secrets.require('B') }),
    ], { secretResolver: resolver });
    await b.one('giver');
    expect(failure(await b.one('taker')).message).toContain("'B'");
    expect(resolver.resolve).not.toHaveBeenCalled();
  });

  it.each(['needsApproval', 'idempotencyKey'])('issue 4: the ACL covers %s', async (callback) => {
    const rows = audited();
    const resolver = resolverOf();
    const answers: unknown[] = [];
    const b = bench([entry('t', { secretsAllowed: ['KEY'], [callback]: async (_: unknown, ctx: Ctx) => {
      answers.push(await ctx.secrets.require('KEY').then(() => 'allowed', (error: Error) => error.name));
      answers.push(await ctx.secrets.require('OTHER').then(() => 'allowed', (error: Error) => error.name));
      return callback === 'needsApproval' ? false : 'key';
    } })], { secretResolver: resolver });
    success(await b.one('t'));
    expect(answers).toEqual(['allowed', 'SecretAccessDeniedError']);
    expect(resolver.resolve.mock.calls).toEqual([['KEY']]);
    expect(rows).toHaveLength(1);
  });

  it('an outer scope of the app narrows too, and ids that are missing are absent', async () => {
    const rows = audited();
    const b = bench([entry('t', { secretsAllowed: ['KEY'], execute: async (_: unknown, ctx: Ctx) => await ctx.secrets.require('KEY') })], { secretResolver: resolverOf() });
    const bare = run({ runId: undefined, sessionId: undefined, agentId: undefined });
    await withToolSecretsContext({ toolName: 'app', secretsAllowed: [] }, () => b.one('t', {}, { runContext: bare }));
    expect(rows[0]!['actor']).toEqual({ kind: 'tool', toolName: 't' });
  });
});
