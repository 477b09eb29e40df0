// P45: no text becomes code, by whatever constructor it is reached.
import { describe, expect, it } from 'vitest';
import { runBridgedSource } from 'ferrule/sandbox';

const run = (source: string) => runBridgedSource({ source, allowedTools: ['x'], dispatch: async () => ({ f: { g: 1 } }) });

describe('P45', () => {
  it.each([
    'eval("1")', '(0, eval)("1")', 'new Function("return this")()', '(() => {}).constructor("return this")()',
    '(async () => {}).constructor("return this")()', '(function* () {}).constructor("yield 1")()', '(async function* () {}).constructor("yield 1")()',
    'tools.x.constructor("return this")()', '(await tools.x()).f.constructor.constructor("return this")()', '[].map.constructor("return this")()',
    'Reflect.construct(Function, ["return 1"])', 'class A extends Function {} new A("return 1")', 'setTimeout("x = 1")', 'console.log.constructor("return this")()',
  ])('%s is refused', async (source) => {
    expect(await run(source)).toMatchObject({ ok: false, error: { kind: 'execution-failed' } });
    expect(await run(`try { ${source}; return "made" } catch { return "refused" }`)).toMatchObject({ ok: true, output: 'refused' });
  });
});
