// P46: what a model expects to find, and what it is told when it finds something missing.
import { describe, expect, it } from 'vitest';
import { runBridgedSource } from 'ferrule/sandbox';

const run = (source: string, options = {}) => runBridgedSource({ source, allowedTools: ['x'], dispatch: async () => 1, ...options });

describe('P46', () => {
  it('the console is captured', async () => {
    expect(await run('console.log("a", 1); console.warn({ b: [1, 2] })')).toMatchObject({ ok: true, console: ['a 1', '{ b: [ 1, 2 ] }'] });
  });

  it('lines of a script that hangs are kept', async () => {
    const result = await run('console.log("before"); await null; for (const end = Date.now() + 60; Date.now() < end; ) {} console.log("busy"); for (;;) {}', { timeoutMs: 800 });
    expect(result).toMatchObject({ ok: false, error: { kind: 'timeout' }, console: ['before', 'busy'] });
  });

  it('timers run, bounded by the wall clock', async () => {
    expect(await run('const t = Date.now(); await new Promise((r) => setTimeout(r, 30)); return Date.now() - t >= 29')).toMatchObject({ output: true });
    expect(await run('await new Promise((r) => setTimeout(r, 60000))', { timeoutMs: 100 })).toMatchObject({ error: { kind: 'timeout' } });
  });

  it.each([
    ['a fenced block', '```ts\nconst x: number = 1;\nreturn x\n```', 1],
    ['prose around it', 'Sure, here is the script:\n\n```js\nreturn 2\n```\n\nIt returns two.', 2],
    ['annotations', 'interface P { a: number }\nconst f = async (p: P, q?: string): Promise<number> => p.a;\nreturn await f({ a: 3 } as P)', 3],
  ])('%s is understood', async (_, source, output) => {
    expect(await run(source)).toMatchObject({ ok: true, output });
  });

  it.each([
    ['enum A { B }', 'plain JavaScript'],
    ['return Buffer.from("x")', 'Available globals: tools, console'],
    ['return x(1)', 'tools.<name>'],
    ['import x from "x"', 'import'],
  ])('%j is answered with %j', async (source, hint) => {
    expect(await run(source)).toMatchObject({ ok: false, error: { kind: 'execution-failed', message: expect.stringContaining(hint) } });
  });
});
