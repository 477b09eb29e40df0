/** Names that no tool can have, made up by a model (spec 02 section 7.1). */
import { DuplicateToolNameError, ToolExecutionAggregateError, tool } from 'ferrule';
import { expect, it } from 'vitest';
import { anything, bench, call, counters, entry, failure, run } from './kit.js';

const ERRORS = 'tool.executor.errors.total';
const made = (length: number): string => 'n'.repeat(length);
const shown = `${made(200)}…`;

it('an unknown name of up to 256 characters is told and counted whole, a longer one by its start', async () => {
  const b = bench([]);
  expect(failure(await b.one(made(256))).message).toBe(`Unknown tool: ${made(256)}`);
  const { message, toolName } = failure(await b.one(made(10_000)));
  expect([message, toolName]).toEqual([`Unknown tool: ${shown}`, made(10_000)]);
  const counted = (name: string) => `${ERRORS}{kind=unknown_tool,toolName=${name}}`;
  expect(counters()).toEqual({ [counted(made(256))]: 1, [counted(shown)]: 1 });
});

it('made-up names are counted each by itself up to 500, and then together', async () => {
  const b = bench([entry('real', { execute: async () => { throw new Error('no'); } })]);
  const calls = Array.from({ length: 700 }, (_, at) => call(`made-up-${at}`));
  await b.batch([...calls, ...calls]);
  await b.one('real');
  const { [`${ERRORS}{kind=unknown_tool,toolName=(other)}`]: together, ...each } = counters();
  expect(together).toBe(400);
  expect(Object.keys(each).filter((key) => key.includes('unknown_tool'))).toHaveLength(500);
  expect(each[`${ERRORS}{kind=unknown_tool,toolName=made-up-499}`]).toBe(2);
  expect(each[`${ERRORS}{kind=execution_failed,toolName=real}`]).toBe(1);
});

it('a call that never started, and a denied one, do not repeat such a name either', async () => {
  const controller = new AbortController();
  const long = made(10_000);
  const b = bench([entry('first', { executionMode: 'sequential', execute: async () => controller.abort() }), entry(long)], {
    argumentPolicy: { deniesName: () => ({ denied: true, reason: 'r' }), evaluate: () => ({ effect: 'allow' }) },
  } as never);
  expect(failure(await b.one(long)).message).toBe(`Tool '${shown}' is denied by name: r`);
  const other = bench([entry('first', { executionMode: 'sequential', execute: async () => controller.abort() }), entry(long)]);
  await other.batch([call('first'), call(long), call(long)], { runContext: run({ signal: controller.signal }) });
  expect(counters()[`${ERRORS}{kind=aborted,toolName=${shown}}`]).toBe(2);
});

it('errors about tools cut such a name in their message, and keep it whole beside', () => {
  const error = new DuplicateToolNameError(made(10_000));
  expect(error.message).toContain(`"${shown}"`);
  expect(error.toolName).toBe(made(10_000));
  const failures = [{ toolName: made(10_000), toolCallId: 'c', error: 1 }];
  expect(new ToolExecutionAggregateError(failures).message).toContain(`: ${shown}#c`);
  const declared = { name: `${made(199)}😀`.padEnd(300, 'x'), description: 'd', inputSchema: anything, execute: async () => 1 };
  expect(() => tool(declared as never)).toThrow(`tool({ name: '${made(199)}…' }): 'name' must be at most 128 characters (got 300).`);
});
