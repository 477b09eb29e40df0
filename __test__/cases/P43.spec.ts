// P43: the script dies, not the host. Every row ends within its limit and the next call works.
import { describe, expect, it } from 'vitest';
import { runBridgedSource } from 'ferrule/sandbox';

const LIMIT = 1500;
const run = (source: string) => runBridgedSource({ source, allowedTools: [], dispatch: async () => undefined, timeoutMs: LIMIT, maxMemoryMb: 64 });

describe('P43', () => {
  it.each([
    ['a repeated string', '"x".repeat(2 ** 29); return 1', /memory limit|length/],
    ['a doubled string', 'let s = "x"; for (let i = 0; i < 33; i++) s += s; return s.length', /memory limit|length/],
    ['deep source by Function', 'Function("(".repeat(30000))', /strings/],
    ['deep JSON.stringify', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return JSON.stringify(a).length', /too deeply|timed out|memory/],
    ['shallow recursion for ever', 'function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) } return f(60)', /timed out/],
    ['a loop inside a native', '[1].map(() => { while (true) {} })', /timed out/],
    ['a loop behind an await', 'await null; function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) } return f(60)', /timed out/],
    ['a catastrophic pattern', 'return /(a+)+$/.test("a".repeat(28) + "!")', /timed out/],
    ['a large fill', 'return new Array(5e7).fill(1).length', /memory limit|timed out/],
    ['a loop', 'while (true) {}', /timed out/],
    ['endless recursion', 'const f = () => f() + 1; f()', /call stack/],
    ['an impossible buffer', 'new ArrayBuffer(2 ** 33)', /./],
  ])('%s', async (_, source, message) => {
    const result = await run(source);
    expect(result).toMatchObject({ ok: false, error: { message: expect.stringMatching(message) } });
    expect(result.durationMs).toBeLessThan(LIMIT + 700);
    expect(await run('return 1')).toMatchObject({ ok: true, output: 1 });
  });

  it('the shuffle every model writes works', async () => {
    const result = await run('const a = Array.from({ length: 3000 }, (_, i) => i).sort(() => Math.random() - 0.5); return [a.length, new Set(a).size]');
    expect(result).toMatchObject({ ok: true, output: [3000, 3000] });
  });
});
