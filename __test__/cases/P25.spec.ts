/** P25: prototype keys in arguments never reach a prototype. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bench, entry, failure, success, type Loose } from '../executor/kit.js';

const HOSTILE = [
  '{"a":1,"__proto__":{"admin":true}}',
  '{"a":1,"x":{"constructor":{"prototype":{"admin":true}}}}',
  '{"a":1,"x":{"__proto__":{"admin":true}},"list":[{"__proto__":{"admin":true}}]}',
];

/** Whether an object or anything in it got another prototype than a plain one. */
function polluted(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false;
  const proto: unknown = Object.getPrototypeOf(value);
  if (proto !== Object.prototype && proto !== Array.prototype && proto !== null) return true;
  return Object.values(value).some(polluted);
}

const SCHEMAS: [string, unknown][] = [
  ['a loose zod object', z.looseObject({ a: z.number() })],
  ['a strict-by-stripping zod object', z.object({ a: z.number() })],
  ['a record', z.record(z.string(), z.unknown())],
  ['a schema that takes all', { parse: (x: unknown) => x, safeParse: (data: unknown) => ({ success: typeof data === 'object', data, error: { message: 'no' } }) }],
];

describe('P25 prototype keys', () => {
  it.each(SCHEMAS)('%s, as text and as objects', async (_name, inputSchema) => {
    for (const text of HOSTILE) {
      for (const args of [text, JSON.parse(text)]) {
        const seen: Loose[] = [];
        const b = bench([entry('t', { inputSchema, idempotencyKey: () => 'k', execute: async (input: Loose) => { seen.push(input); return { ...input }; } })], {
          permissionHook: ({ validatedInput }) => ({ decision: 'allow', updatedInput: validatedInput }),
          idempotencyStore: { get: () => undefined, set: () => {} },
        });
        const record = await b.one('t', args);
        expect(({} as Loose)['admin']).toBeUndefined();
        for (const input of seen) {
          expect((input as Loose)['admin']).toBeUndefined();
          expect(polluted(input)).toBe(false);
        }
        expect(polluted(record.call)).toBe(false);
        expect(record.call.args).toBe(args);
      }
    }
  });

  it('a call object with an own __proto__ key is copied, not merged', async () => {
    const wire = JSON.parse('{"toolCallId":"c","toolName":"t","args":{},"__proto__":{"admin":true}}') as Loose;
    const b = bench([entry('t')]);
    const [record] = await b.batch([wire]);
    expect((record!.call as unknown as Loose)['admin']).toBeUndefined();
    expect(Object.getPrototypeOf(record!.call)).toBe(Object.prototype);
    success(record!);
  });

  it('prototype keys alone do not make invalid arguments valid', async () => {
    const b = bench([entry('t', { inputSchema: z.object({ a: z.number() }) })]);
    expect(failure(await b.one('t', '{"__proto__":{"a":1}}')).kind).toBe('invalid_input');
    expect(failure(await b.one('t', JSON.parse('{"__proto__":{"a":1}}'))).kind).toBe('invalid_input');
  });

  it('a tool that must carry such a key gets it as an own key where its schema keeps it', async () => {
    const b = bench([entry('t', { inputSchema: SCHEMAS[3]![1], execute: async (input: object) => Object.hasOwn(input, '__proto__') })]);
    expect(success(await b.one('t', JSON.parse('{"__proto__":"text"}'))).output).toBe(true);
  });
});
