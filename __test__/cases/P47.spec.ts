// P47: ordering, detachment and counting of host calls. A call nobody awaits is counted and does not
// fail the run: spec 04 section 1.8, which overrules the case.
import { describe, expect, it } from 'vitest';
import { runBridgedSource, type BridgedSourceOptions } from 'ferrule/sandbox';

const run = (source: string, options: Partial<BridgedSourceOptions> = {}) =>
  runBridgedSource({ source, allowedTools: ['a', 'b', 'c'], dispatch: async ({ name, args }) => (args === 'fail' ? Promise.reject(new Error(name)) : name), ...options });

describe('P47', () => {
  it('one after another, and all at once', async () => {
    expect(await run('return [await tools.a(), await tools.b()]')).toMatchObject({ output: ['a', 'b'], toolCalls: 2 });
    expect(await run('return await Promise.all([tools.a(), tools.b(), tools.c()])')).toMatchObject({ output: ['a', 'b', 'c'], toolCalls: 3 });
  });

  it('a call never awaited', async () => {
    expect(await run('tools.a(); return 1')).toMatchObject({ ok: true, output: 1, toolCalls: 1 });
    expect(await run('tools.a("fail"); await tools.b(); return 1')).toMatchObject({ ok: true, output: 1, toolCalls: 2 });
  });

  it('a call in a finally', async () => {
    expect(await run('try { await tools.a("fail") } finally { await tools.b() }')).toMatchObject({ ok: false, error: { message: 'a (line 1, column 20)' }, toolCalls: 2 });
  });

  it('300 calls with a budget of 256: the rest can be caught, and the count stays', async () => {
    const source = 'let no = 0; for (let i = 0; i < 300; i++) { try { await tools.a() } catch (e) { no++; if (!/budget exceeded/.test(e.message)) throw e } } return no';
    expect(await run(source, { maxToolCalls: 256 })).toMatchObject({ ok: true, output: 44, toolCalls: 256 });
  });

  it('40 in flight with a cap of 32', async () => {
    let [open, most] = [0, 0];
    const dispatch = async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 5));
      open--;
    };
    expect(await run('await Promise.all(Array.from({ length: 40 }, () => tools.a()))', { dispatch, maxCallsInFlight: 32 })).toMatchObject({ ok: true, toolCalls: 40 });
    expect(most).toBe(32);
  });
});
