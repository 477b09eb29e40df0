/** P23 and issue 4: what models send for "no arguments", and arguments as JSON text. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bench, entry, failure, success } from '../executor/kit.js';

const over = (inputSchema: unknown) => {
  const seen: unknown[] = [];
  return { seen, b: bench([entry('t', { inputSchema, execute: async (input: unknown) => { seen.push(input); } })]) };
};

describe('P23 no-argument calls', () => {
  it.each(['', '   ', '\n\t', null, undefined, '{}', 'null', ' {} ', ' null '])('raw %j runs with {}', async (args) => {
    const { seen, b } = over(z.object({}));
    const record = await b.one('t', args);
    success(record);
    expect(seen).toEqual([{}]);
    // The record keeps what was sent.
    expect(record.call.args).toBe(args);
  });

  it.each(['[]', '1', 'true', '"x"', '{', '{"a":', '[1', 1, true, [], 'nothing', '{}{}'])('raw %j does not', async (args) => {
    const { seen, b } = over(z.object({}));
    expect(failure(await b.one('t', args)).kind).toBe('invalid_input');
    expect(seen).toEqual([]);
  });

  it('defaults apply; a schema that needs something says what, and a repair still gets the raw text', async () => {
    const { seen, b } = over(z.object({ city: z.string().default('Bern') }));
    success(await b.one('t', ''));
    expect(seen).toEqual([{ city: 'Bern' }]);
    const strict = over(z.object({ city: z.string() }));
    expect(failure(await strict.b.one('t', '')).kind).toBe('invalid_input');
    const asked: unknown[] = [];
    const repaired = bench([entry('t', { inputSchema: z.object({ city: z.string() }) })], { repair: { repair: async ({ invalidArgs }) => { asked.push(invalidArgs); return { city: 'Bern' }; } } });
    success(await repaired.one('t', ''));
    expect(asked).toEqual(['']);
  });

  it('a schema that takes the raw value gets it, unread', async () => {
    const text = over(z.string());
    success(await text.b.one('t', '{}'));
    const nullable = over(z.null());
    success(await nullable.b.one('t', null));
    const optional = over(z.undefined());
    success(await optional.b.one('t', undefined));
    expect([text.seen, nullable.seen, optional.seen]).toEqual([['{}'], [null], [undefined]]);
  });
});

describe('issue 4: arguments as JSON text', () => {
  const schema = z.object({ city: z.string(), days: z.number().default(1) });

  it('a JSON object in a string is parsed strictly', async () => {
    const { seen, b } = over(schema);
    const args = '{"city":"Bern"}';
    success(await b.one('t', args));
    expect(seen).toEqual([{ city: 'Bern', days: 1 }]);
  });

  it.each(['{"city":"Be', '{"city":"Bern"', "{'city':'Bern'}", '{city:"Bern"}', '{"city":"Bern",}', '```json\n{"city":"Bern"}\n```'])('%j is invalid_input, never a guess', async (args) => {
    const { seen, b } = over(schema);
    expect(failure(await b.one('t', args)).kind).toBe('invalid_input');
    expect(seen).toEqual([]);
  });

  it('a truncated text is told so', async () => {
    const { b } = over(schema);
    expect(failure(await b.one('t', '{"city":"Be')).message).toMatch(/not complete JSON/);
  });

  it('the gate and the guard see what executes', async () => {
    const gated: unknown[] = [];
    const b = bench([entry('t', { inputSchema: schema, needsApproval: true })], { approvalGate: { request: async (_call, approval) => { gated.push(approval.args); return { granted: true }; } } });
    success(await b.one('t', '{"city":"Bern"}'));
    expect(gated).toEqual([{ city: 'Bern' }]);
  });
});
