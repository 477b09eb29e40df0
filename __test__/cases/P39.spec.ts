// P39: depth and cycles crash natives. Up to the limit a value passes, beyond it there is a typed error
// and the process lives.
import { describe, expect, it } from 'vitest';
import { runBridgedSource } from 'ferrule/sandbox';

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
const run = (source: string, dispatch: (args: unknown) => unknown = (args) => args) =>
  runBridgedSource({ source, allowedTools: ['echo'], dispatch: async ({ args }) => dispatch(args) });

describe('P39 nested arrays in code mode', () => {
  it.each([127, 129, 1000])('%i levels pass as argument, result and return value', async (levels) => {
    const result = await run(`let a = []; for (let i = 1; i < ${levels}; i++) a = [a]; return await tools.echo(a)`);
    expect(result.ok && JSON.stringify(result.output)).toBe(JSON.stringify(nested(levels)));
  });

  it.each([
    ['argument', 'let a = []; for (let i = 1; i < 5000; i++) a = [a]; await tools.echo(a)', undefined],
    ['result', 'await tools.echo(1)', () => nested(5000)],
    ['return value', 'let a = []; for (let i = 1; i < 5000; i++) a = [a]; return a', undefined],
  ])('5,000 levels as %s are an error', async (_, source, dispatch) => {
    expect(await run(source, dispatch)).toMatchObject({ ok: false, error: { kind: 'execution-failed', message: expect.stringContaining('nested deeper than 1000 levels') } });
    expect(await run('return 1')).toMatchObject({ ok: true });
  });

  it('a cycle passes', async () => {
    const result = await run('const a = { b: {} }; a.b.a = a; return a');
    const output = (result as { output: { b: { a: unknown } } }).output;
    expect(output.b.a).toBe(output);
  });
});
