import { toolReturn } from 'ferrule/core';
import { splitTextAndContentParts, toResultEnvelope } from 'ferrule/result';
import { describe, expect, it, vi } from 'vitest';
import { nativeRealm } from '../../js/binding.js';

const COUNTER = 'tool.result.envelope.unbranded-toolreturn.total';
const counted = (): number => nativeRealm().counter(COUNTER);
const image = { type: 'image', image: new Uint8Array([1]), mimeType: 'image/png' } as const;

describe('03 section 1.2: toResultEnvelope', () => {
  it('takes a plain value as the output', () => {
    const output = { rows: [1, 2] };
    const envelope = toResultEnvelope({ raw: output });
    expect(envelope).toEqual({ output, textBody: '{"rows":[1,2]}', contentParts: [] });
    expect(envelope.output).toBe(output);
    expect('taint' in envelope).toBe(false);
    expect(Object.isFrozen(envelope) && Object.isFrozen(envelope.contentParts)).toBe(true);
  });

  it('takes envelopes apart and counts the unbranded ones', () => {
    const before = counted();
    const branded = toolReturn({ output: 'x', contentParts: [image], taint: { untrusted: true } });
    expect(toResultEnvelope({ raw: branded })).toEqual({
      output: 'x',
      textBody: 'x',
      contentParts: [image],
      taint: { untrusted: true },
    });
    expect(counted()).toBe(before);
    expect(toResultEnvelope({ raw: { output: 42 } })).toEqual({ output: 42, textBody: '42', contentParts: [] });
    expect(counted()).toBe(before + 1);
  });

  it('leaves look-alikes whole', () => {
    const before = counted();
    for (const raw of [{ output: 1, exitCode: 0, stderr: '' }, { contentParts: [] }, [1]]) {
      expect(toResultEnvelope<unknown>({ raw }).output).toBe(raw);
    }
    expect(counted()).toBe(before);
  });

  it('undefined gives an empty body, null is a value and hides chunks', () => {
    expect(toResultEnvelope({ raw: undefined })).toEqual({ output: undefined, textBody: '', contentParts: [] });
    const chunks = [{ kind: 'text', text: 'x' }] as const;
    expect(toResultEnvelope({ raw: null, chunks })).toEqual({ output: null, textBody: '', contentParts: [] });
    expect(toResultEnvelope({ raw: undefined, chunks: [] }).textBody).toBe('');
  });

  it('joins text chunks, short and long', () => {
    const chunks = Array.from({ length: 2000 }, (_, i) => ({ kind: 'text', text: `${i},` }) as const);
    expect(toResultEnvelope({ raw: undefined, chunks }).output).toBe(chunks.map((c) => c.text).join(''));
  });

  const delta = (path: string, value: unknown) => ({ kind: 'json-delta', path, value }) as const;
  it.each([
    [[delta('/a/b', 1), delta('a/c', 2)], { a: { b: 1, c: 2 } }],
    [[delta('', { x: 1 }), delta('/x', 2)], { x: 2 }],
    [[delta('/a', 1), delta('/a/b', 2)], { a: { b: 2 } }],
    [[delta('', [1, 2]), delta('/1', 3)], [1, 3]],
    [[delta('', 5), delta('/a', 1)], { a: 1 }],
    [[delta('/a~1b', 1)], { 'a~1b': 1 }],
    [[delta('/__proto__/polluted', 1), delta('/a/constructor', 1), delta('/ok', 1)], { ok: 1 }],
  ])('applies deltas %#', (chunks, expected) => {
    const envelope = toResultEnvelope({ raw: undefined, chunks });
    expect(envelope.output).toEqual(expected);
    expect(envelope.textBody).toBe(JSON.stringify(expected));
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('images become parts; text wins over JSON; only images give an empty output', () => {
    const picture = { kind: 'image', data: image.image, mediaType: 'image/png' } as const;
    expect(toResultEnvelope({ raw: undefined, chunks: [picture] })).toEqual({
      output: '',
      textBody: '',
      contentParts: [image],
    });
    const mixed = toResultEnvelope({
      raw: undefined,
      chunks: [delta('/a', 1), { kind: 'text', text: 'hi' }, picture],
    });
    expect([mixed.output, mixed.contentParts]).toEqual(['hi', [image]]);
  });

  it('splits text from the other parts', () => {
    const text = { type: 'text', text: 'part' } as const;
    const reasoning = { type: 'reasoning', text: 'why' } as const;
    const split = splitTextAndContentParts(
      toResultEnvelope({ raw: toolReturn({ output: 'body', contentParts: [image, text, reasoning] }) }),
    );
    expect(split).toEqual({ text: 'body', nonText: [image, reasoning], textParts: [text] });
    expect(Object.isFrozen(split) && Object.isFrozen(split.nonText) && Object.isFrozen(split.textParts)).toBe(true);
  });
});

describe('binary outputs', () => {
  it('cost no array of their bytes and no key for each element', () => {
    const buffer = Buffer.from([0, 7, 255]);
    const floats = new Float64Array([1.5, NaN, -0]);
    const expected = JSON.stringify(buffer);
    const toJson = vi.spyOn(Buffer.prototype, 'toJSON');
    const stringify = vi.spyOn(JSON, 'stringify');
    try {
      expect(toResultEnvelope({ raw: buffer }).textBody).toBe(expected);
      expect(toResultEnvelope({ raw: floats }).textBody).toBe('[1.5,null,0]');
      expect(toJson).not.toHaveBeenCalled();
      expect(stringify.mock.calls.some(([value]) => value === floats)).toBe(false);
    } finally {
      vi.restoreAllMocks();
    }
  });

  it('cost neither in fields, and a large Buffer is written like other bytes', () => {
    const bytes = new Uint8Array(70_000).fill(9);
    const buffer = Buffer.alloc(1_048_577, 7);
    const base64 = (given: Uint8Array): object => ({ mediaType: 'application/octet-stream', base64: Buffer.from(given).toString('base64') });
    const rows: Array<[value: object, expected: unknown]> = [
      [buffer, base64(buffer)],
      [{ name: 'a', files: [{ data: bytes }] }, { name: 'a', files: [{ data: base64(bytes) }] }],
      [{ file: buffer }, { file: base64(buffer) }],
      [{ rows: new Map([['file', buffer]]) }, { rows: { file: base64(buffer) } }],
      [{ small: buffer.subarray(0, 3), large: bytes }, { small: { type: 'Buffer', data: [7, 7, 7] }, large: base64(bytes) }],
      [{ edge: buffer.subarray(1) }, { edge: buffer.subarray(1).toJSON() }],
    ];
    for (const [value, expected] of rows) {
      const text = JSON.stringify(expected);
      const toJson = vi.spyOn(Buffer.prototype, 'toJSON');
      const stringify = vi.spyOn(JSON, 'stringify');
      try {
        expect(toResultEnvelope({ raw: value }).textBody === text).toBe(true);
        expect(stringify.mock.calls.some(([asked]) => asked === value && 'files' in value)).toBe(false);
        expect(toJson.mock.contexts.some((asked) => (asked as Buffer).length > 1_048_576)).toBe(false);
      } finally {
        vi.restoreAllMocks();
      }
    }
  });
});
