// The built-ins that are ours do what the standard's do, also for those who try to be told apart, and take time
// that grows with the work.
import { describe, expect, it } from 'vitest';
import { runBridgedSource } from 'ferrule/sandbox';
import { large, scripts } from './builtins.scripts.js';

const AsyncFunction = (async () => undefined).constructor as new (source: string) => () => Promise<unknown>;
const run = (source: string) => runBridgedSource({ source, allowedTools: [], dispatch: async () => undefined });
/** As it crosses: without holes, undefined properties and keys of arrays. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('the same result as Node', () => {
  it.each(scripts)('%s', async (_, source) => {
    const result = await run(`return JSON.stringify(await (async () => {${source}})())`);
    if (!result.ok) throw new Error(result.error.message);
    const zone = process.env['TZ'];
    process.env['TZ'] = 'UTC';
    const expected = await new AsyncFunction(`"use strict";\n${source}`)();
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
    expect(JSON.parse(result.output as string)).toEqual(plain(expected));
  });
});

describe('large inputs', () => {
  // A limit of CPU time that work quadratic in the input is far from; what is linear is as far on its other side.
  it.each(large)('%s', async (_, source) => {
    const result = await runBridgedSource({ source, allowedTools: [], dispatch: async () => undefined, timeoutMs: 0, maxCpuMs: 15_000 });
    expect(result.ok ? result.output : result.error.message).toEqual(await new AsyncFunction(source)());
  }, 120_000);
});
