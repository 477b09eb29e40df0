// runBridgedSource: what spec 03 section 7.2 and spec 04 section 1.8 promise about a run.
import { AsyncLocalStorage } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { runBridgedSource, type BridgedSourceOptions, type BridgedToolCall } from 'ferrule/sandbox';

const echo = async (call: BridgedToolCall): Promise<unknown> => call.args;
const run = (source: string, options: Partial<BridgedSourceOptions> = {}) =>
  runBridgedSource({ source, allowedTools: ['echo', 'files.read'], dispatch: echo, ...options });
const output = async (source: string, options: Partial<BridgedSourceOptions> = {}): Promise<unknown> => {
  const result = await run(source, options);
  if (!result.ok) throw new Error(`${result.error.kind}: ${result.error.message}`);
  return result.output;
};
const failure = async (source: string, options: Partial<BridgedSourceOptions> = {}) => {
  const result = await run(source, options);
  if (result.ok) throw new Error(`expected a failure, got ${JSON.stringify(result.output)}`);
  return result;
};

describe('the source (spec 03 section 7.2)', () => {
  it.each([
    ['return 1 // a trailing comment', 1],
    ['return this === undefined', true],
    ['return typeof arguments', 'object'],
    ['', undefined],
    ['return Promise.resolve(2)', 2],
    ['return { then: (resolve) => resolve(3) }', 3],
    ['try { undeclared = 1 } catch (error) { return error.name }', 'ReferenceError'],
    ['```js\nreturn 4\n```', 4],
    ['const x: number = 5; const f = (y: number): number => y; return f(x)', 5],
  ])('%j gives %j', async (source, expected) => {
    expect(await output(source)).toEqual(expected);
  });

  it.each(['import fs from "fs"', 'return import.meta', 'return 1 +', 'const a = 1; const a = 2', '}); (() => {'])('%j is a syntax error', async (source) => {
    const result = await failure(source);
    expect(result.error.kind).toBe('execution-failed');
    expect(result.error.message).toMatch(/syntax|unexpected|expected|import|redecl/i);
    expect(result.toolCalls).toBe(0);
  });
});

describe('tools (spec 03 section 7.2)', () => {
  it('is a frozen object without prototype, with one own function a name', async () => {
    expect(await output('return [Object.isFrozen(tools), Object.getPrototypeOf(tools), Object.keys(tools), typeof tools.echo]')).toEqual([true, null, ['echo', 'files.read'], 'function']);
  });

  it('sends the first argument only, and undefined for none', async () => {
    const calls: BridgedToolCall[] = [];
    const dispatch = async (call: BridgedToolCall) => void calls.push(call);
    expect(await output('await tools.echo({ a: 1 }, 2); await tools["files.read"](); return "done"', { dispatch })).toBe('done');
    expect(calls).toEqual([{ name: 'echo', args: { a: 1 } }, { name: 'files.read', args: undefined }]);
    expect(Object.keys(calls[1] as object)).toEqual(['name', 'args']);
  });

  it('an unknown name is undefined, so calling it is the script fault, without dispatch', async () => {
    const dispatch = vi.fn(echo);
    const result = await failure('return await tools.nope({})', { dispatch });
    expect(result.error.kind).toBe('execution-failed');
    expect(result.error.message).toContain('There is no tool named "nope"; the tools are: echo, files.read');
    expect(dispatch).not.toHaveBeenCalled();
  });

  it('calls overlap, and answers may come in any order', async () => {
    let open = 0;
    let most = 0;
    const dispatch = async (call: BridgedToolCall) => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 40 - 10 * (call.args as number)));
      open--;
      return call.args;
    };
    expect(await output('const order = []; await Promise.all([1, 2, 3].map((n) => tools.echo(n).then(() => order.push(n)))); return order', { dispatch })).toEqual([3, 2, 1]);
    expect(most).toBe(3);
  });

  it('at most maxCallsInFlight calls are out, the rest wait', async () => {
    let open = 0;
    let most = 0;
    const dispatch = async (call: BridgedToolCall) => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 2));
      open--;
      return call.args;
    };
    expect(await output('return (await Promise.all(Array.from({ length: 20 }, (_, n) => tools.echo(n)))).length', { dispatch, maxCallsInFlight: 4 })).toBe(20);
    expect(most).toBe(4);
  });

  it.each([
    ['an Error', async () => Promise.reject(new RangeError('too far')), 'Error: too far'],
    ['a text', async () => Promise.reject('plain'), 'Error: plain'],
    ['an empty message', async () => Promise.reject(new Error('')), 'Error: tool call failed: 0'],
    ['a throw before any promise', () => { throw new Error('at once'); }, 'Error: at once'],
    ['a value without text', async () => Promise.reject(Object.create(null)), 'Error: a value that has no text was thrown'],
  ])('a dispatch that fails with %s can be caught', async (_, dispatch, expected) => {
    expect(await output('try { await tools.echo() } catch (error) { return `${error.name}: ${error.message}` }', { dispatch: dispatch as BridgedSourceOptions['dispatch'] })).toBe(expected);
  });

  it('calls of one frame that wait for a further turn keep their arguments, whatever other scripts send meanwhile', async () => {
    const seen: unknown[] = [];
    const slow = async ({ args }: BridgedToolCall): Promise<void> => {
      seen.push(args);
      for (const end = performance.now() + 1; performance.now() < end; );
    };
    let over = false;
    const many = runBridgedSource({ source: 'await Promise.all(Array.from({ length: 200 }, (_, i) => tools.a({ i, text: `call ${i}` })))', allowedTools: ['a'], dispatch: slow, maxToolCalls: 200, timeoutMs: 60_000 }).then(() => (over = true));
    const other = runBridgedSource({ source: "while (!(await tools.a('x'.repeat(15_000))));", allowedTools: ['a'], dispatch: async () => over, maxToolCalls: 1e9, timeoutMs: 60_000 });
    await many;
    expect(await other).toMatchObject({ ok: true });
    expect(seen).toEqual(Array.from({ length: 200 }, (_, i) => ({ i, text: `call ${i}` })));
  });

  it('an odd dispatch is contained', async () => {
    expect(await output('return await tools.echo(1)', { dispatch: (() => 5) as never })).toBe(5);
    expect(await output('return await tools.echo(1)', { dispatch: (() => ({ then: (f: (n: number) => void) => f(6) })) as never })).toBe(6);
    const never = await failure('await tools.echo(1)', { dispatch: () => new Promise(() => undefined), timeoutMs: 150 });
    expect(never.error).toMatchObject({ kind: 'timeout', message: expect.stringContaining('timed out after 150 ms') });
    expect(never.toolCalls).toBe(1);
  });

  it('a call nobody awaits is counted and does not fail the run', async () => {
    const dispatch = async () => Promise.reject(new Error('late'));
    expect(await run('tools.echo(1); tools.echo(2); return "ok"', { dispatch })).toMatchObject({ ok: true, output: 'ok', toolCalls: 2 });
    expect(await run('tools.echo(1); await new Promise((r) => setTimeout(r, 20)); return "ok"', { dispatch })).toMatchObject({ ok: true, output: 'ok', toolCalls: 1 });
  });

  it('P47: a call in finally, and in sequence, works', async () => {
    expect(await output('const out = []; try { out.push(await tools.echo(1)); throw new Error("x") } catch { out.push(await tools.echo(2)) } finally { out.push(await tools.echo(3)) } return out')).toEqual([1, 2, 3]);
  });
});

describe('the budget (spec 03 section 7.2)', () => {
  it.each([
    ['uncaught', 'for (let i = 0; i < 5; i++) await tools.echo(i)', 3],
    ['none at all', 'await tools.echo(1)', 0],
  ])('%s ends the run', async (_, source, maxToolCalls) => {
    const dispatch = vi.fn(echo);
    const result = await failure(source, { maxToolCalls, dispatch });
    expect(result.error.kind).toBe('execution-failed');
    expect(result.error.message).toMatch(new RegExp(`budget exceeded \\(${maxToolCalls}\\)`));
    expect(result.toolCalls).toBe(maxToolCalls);
    expect(dispatch).toHaveBeenCalledTimes(maxToolCalls);
  });

  it('may be caught, and catching gives nothing back', async () => {
    const source = 'let refused = 0; for (let i = 0; i < 10; i++) { try { await tools.echo(i) } catch { refused++ } } return refused';
    expect(await run(source, { maxToolCalls: 4 })).toMatchObject({ ok: true, output: 6, toolCalls: 4 });
  });

  it('P47: 300 calls at once with a budget of 256', async () => {
    const source = 'return (await Promise.allSettled(Array.from({ length: 300 }, (_, n) => tools.echo(n)))).filter((one) => one.status === "rejected").length';
    expect(await run(source, { maxToolCalls: 256 })).toMatchObject({ ok: true, output: 44, toolCalls: 256 });
  });

  it('arguments that cannot be cloned use it up', async () => {
    const dispatch = vi.fn(echo);
    const result = await run('try { await tools.echo(() => 1) } catch (error) { return error.message }', { dispatch });
    expect(result).toMatchObject({ ok: true, toolCalls: 1, output: expect.stringMatching(/^tool arguments are not serialisable: .*could not be cloned/) });
    expect(dispatch).not.toHaveBeenCalled();
  });

  it('the default is 64', async () => {
    const result = await failure('for (;;) await tools.echo(1)');
    expect(result.error.message).toContain('(64)');
    expect(result.toolCalls).toBe(64);
  });
});

describe('ends of a run (spec 03 section 7.2)', () => {
  it.each([
    ['throw new Error("boom")', 'boom'],
    ['throw "text"', 'text'],
    ['throw { a: 1 }', '{"a":1}'],
    ['const c = {}; c.c = c; throw c', '[object Object]'],
    ['async function f() { await f() } await f()', 'the engine gave up on the script; endless recursion of an async function does that'],
    ['null.x', 'null'],
    ['return () => 1', 'could not be cloned'],
    ['return Symbol("s")', 'could not be cloned'],
    ['setTimeout(() => { throw new Error("later") }, 1); await new Promise((r) => setTimeout(r, 500))', 'later'],
    ['Promise.reject(new Error("loose")); await new Promise((r) => setTimeout(r, 500))', 'loose'],
    ['process.exit(0)', 'exited before producing a result'],
    ['process.exit()', 'exited before producing a result'],
    ['try { process.exit(7) } catch { } finally { await tools.echo(1) }', 'exited with code 7'],
    ['eval("1")', 'eval'],
    ['return new Function("return 1")()', 'Function'],
    ['return (async () => {}).constructor("return 1")()', 'Function'],
    ['return tools.echo.constructor("return this")()', 'Function'],
  ])('%j fails with a text that holds %j', async (source, text) => {
    const result = await failure(source);
    expect(result.error.kind).toBe('execution-failed');
    expect(result.error.message).toContain(text);
  });

  it.each([
    ['await import("fs")', 'filesystem access denied by sandbox policy: fs'],
    ['await import("node:fs/promises")', 'filesystem access denied by sandbox policy: node:fs/promises'],
    ['await import("node:https")', 'network access denied by sandbox policy: node:https'],
    ['await import("child_process")', 'module access denied by sandbox policy: child_process'],
    ['await import("node:module")', 'module access denied by sandbox policy: node:module'],
    ['await import("data:text/javascript,1")', 'module access denied by sandbox policy: data:text/javascript,1'],
    ['require("node:vm")', 'module access denied by sandbox policy: node:vm'],
    ['await fetch("http://example.com")', 'network access denied by sandbox policy: fetch'],
  ])('%j is a violation (spec 04 section 1.8)', async (source, message) => {
    expect((await failure(source)).error).toEqual({ kind: 'sandbox-violation', message });
    expect((await failure(source, { noNetwork: false, noFilesystem: false })).error.kind).toBe('sandbox-violation');
  });

  it('a denied import may be caught, and a look-alike is no violation', async () => {
    expect(await output('try { await import("fs") } catch (error) { return error.name }')).toBe('SandboxFsAccessDenied');
    expect((await failure('const e = new Error("x"); e.name = "SandboxFsAccessDenied"; throw e')).error.kind).toBe('execution-failed');
  });

  it.each([['a busy loop', 'while (true) {}'], ['a loop of microtasks', 'for (;;) await null'], ['a promise that never settles', 'await new Promise(() => {})'], ['a timer loop', 'for (;;) await new Promise((r) => setTimeout(r, 1))']])(
    '%s meets the wall clock, and warn is told',
    async (_, source) => {
      const warn = vi.fn();
      const started = performance.now();
      const result = await failure(source, { timeoutMs: 200, warn });
      expect(result.error.kind).toBe('timeout');
      expect(result.error.message).toContain('timed out after 200 ms');
      expect(warn).toHaveBeenCalledExactlyOnceWith(result.error.message);
      expect(performance.now() - started).toBeLessThan(1500);
    },
  );

  it('CPU time has a limit of its own', async () => {
    const result = await failure('while (true) {}', { maxCpuMs: 50 });
    expect(result.error).toMatchObject({ kind: 'timeout', message: expect.stringContaining('50 ms of CPU time') });
  });

  it('an abort ends a run at once, before or during it', async () => {
    expect(await failure('return 1', { signal: AbortSignal.abort() })).toMatchObject({ error: { kind: 'aborted', message: expect.stringContaining('aborted before') }, toolCalls: 0 });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    const result = await failure('while (true) {}', { signal: controller.signal });
    expect(result.error).toMatchObject({ kind: 'aborted', message: expect.stringContaining('aborted by AbortSignal') });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('the memory limit is named', async () => {
    const result = await failure('let s = "x"; for (;;) s += s', { maxMemoryMb: 32 });
    expect(result.error).toMatchObject({ kind: 'execution-failed', message: expect.stringContaining('memory limit') });
  });

  it('an exit without a result settles promptly under a long limit', async () => {
    const started = performance.now();
    expect((await failure('process.exit(0)', { timeoutMs: 60_000 })).error.message).toContain('exited before producing a result');
    expect(performance.now() - started).toBeLessThan(4000);
  });

  it('a promise that can never settle is told to the model even without a clock', { timeout: 15_000 }, async () => {
    const result = await failure('await new Promise(() => {})', { timeoutMs: 0 });
    expect(result.error).toMatchObject({ kind: 'execution-failed', message: expect.stringContaining('never finishes') });
  });

  it('never rejects, whatever it is given', async () => {
    for (const options of [{}, { source: 5, allowedTools: [] }, { source: 'return 1' }, undefined]) {
      const result = await runBridgedSource(options as never);
      expect(result.ok).toBe(false);
    }
  });
});

describe('caps (issue 6 point 2)', () => {
  it.each([
    ['the source', `return 1 //${'x'.repeat(2000)}`, { maxSourceBytes: 1000 }, 'source is larger than 1000 bytes'],
    ['the return value', 'return "x".repeat(2000)', { maxOutputBytes: 1000 }, 'larger than 1000 bytes'],
    ['arguments', 'await tools.echo("x".repeat(2000))', { maxArgsBytes: 1000 }, 'larger than 1000 bytes'],
    ['a result', 'await tools.echo(1)', { maxResultBytes: 1000, dispatch: async () => 'x'.repeat(2000) }, 'larger than 1000 bytes'],
  ])('%s', async (_, source, options, text) => {
    expect((await failure(source, options as Partial<BridgedSourceOptions>)).error.message).toContain(text);
  });

  it('the console is captured and capped, and never reaches stdout', async () => {
    const write = vi.spyOn(process.stdout, 'write');
    const result = await run('console.log("a", { b: [1, "x"] }); console.error(new Error("e")); console.table([{ q: 1 }]); for (let i = 0; i < 1e4; i++) console.log("spam spam spam"); return 1', { maxConsoleBytes: 500 });
    expect(write).not.toHaveBeenCalled();
    write.mockRestore();
    expect(result.console?.slice(0, 3)).toEqual(["a { b: [ 1, 'x' ] }", 'Error: e', '(index) | q\n0       | 1']);
    expect(result.console?.join('\n').length).toBeLessThanOrEqual(500);
    expect(await run('return 1')).not.toHaveProperty('console');
  });

  it('a large tool result reaches the script whole', async () => {
    const text = 'é'.repeat(60_000);
    expect(await output('const text = await tools.echo(); return [text.length, text === "é".repeat(60000)]', { dispatch: async () => text })).toEqual([60_000, true]);
  });
});

describe('async context (spec 04 section 9.1)', () => {
  it('dispatch runs in the context of the call, for concurrent runs too', async () => {
    const storage = new AsyncLocalStorage<number>();
    const seen = await Promise.all(
      [1, 2, 3].map((id) =>
        storage.run(id, async () => {
          const found: unknown[] = [];
          await run('for (let i = 0; i < 3; i++) await tools.echo(i)', { dispatch: async () => void found.push(storage.getStore()) });
          return found;
        }),
      ),
    );
    expect(seen).toEqual([[1, 1, 1], [2, 2, 2], [3, 3, 3]]);
  });
});

describe('what a model takes for granted', () => {
  it.each([
    ['type arguments', 'const s = new Set<string>(["a"]); return s.size + [1, 2].reduce<number>((a, b) => a + b, 0)', 4],
    ['a comparison', 'const a = 1, b = 2, c = 0; return a<b>(c)', true],
    ['parameter properties', 'class A { constructor(private readonly x: number, public y = 2) {} } const a = new A(4); return [a.x, a.y]', [4, 2]],
    [
      'parameter properties of a derived class',
      'class A { constructor(readonly x: number) {} }\nclass B extends A { constructor(n: number, public z: string) { super(n); this.z += "!" } }\nreturn Object.entries(new B(1, "z"))',
      [['x', 1], ['z', 'z!']],
    ],
    ['types in a template', 'const s: string = "a"; return `${s as string}`', 'a'],
    ['overloads', 'function f(a: string): string;\nfunction f(a: number): string;\nfunction f(a: unknown) { return String(a) }\nreturn f(1)', '1'],
    ['abstract classes', 'abstract class A { abstract n(): number; twice() { return 2 * this.n() } }\nclass B extends A { n(): number { return 3 } }\nreturn new B().twice()', 6],
    ['a generic arrow', 'const id = <T,>(x: T) => x; return id(7)', 7],
    ['text in parts', 'const d = new TextDecoder(); return d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + d.decode(new Uint8Array([0xac]))', '€'],
    ['numbers beyond every double', "return JSON.parse('{\"a\":1e400}').a", Infinity],
    ['deep JSON', "JSON.parse('['.repeat(2000) + ']'.repeat(2000)); return 'read'", 'read'],
    ['fences of tildes', '~~~ts\nconst n: number = 1;\nreturn n\n~~~', 1],
    ['longer fences', '````js\n/*\n```\n*/\nreturn 1\n````', 1],
    ['errors of base64', 'try { atob("*") } catch (e) { return e.name }', 'InvalidCharacterError'],
  ])('%s', async (_, source, value) => {
    expect(await output(source)).toEqual(value);
  });
});

describe('errors a model can act on (issue 6 point 3)', () => {
  it.each([
    ['const a = 1;\nconst b = 2;\n  throw new Error("boom")', 'line 3'],
    ['return Buffer.from("x")', 'Available globals: tools, console'],
    ['return 1 < string', 'TypeScript type'],
    ['return echo(1)', 'Tools are called as tools.<name>(…)'],
    ['enum A { B = 1 }\nreturn A.B', 'plain JavaScript'],
    ['const x = 1;\nconst y = ;', 'line 2'],
  ])('%j says %j', async (source, text) => {
    expect((await failure(source)).error.message).toContain(text);
  });

  it('nothing is left of one script for the next', async () => {
    await run('globalThis.secret = 1; Array.prototype.leak = 2; Object.prototype.leak = 3; return 1');
    expect(await output('return [typeof secret, [].leak, ({}).leak]')).toEqual(['undefined', undefined, undefined]);
  });

  it('randomness differs from script to script', async () => {
    const draws = await Promise.all(Array.from({ length: 5 }, () => output('return [Math.random(), crypto.randomUUID()]')));
    expect(new Set(draws.map((draw) => JSON.stringify(draw))).size).toBe(5);
  });
});
