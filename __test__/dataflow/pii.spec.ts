import { describe, expect, it } from 'vitest';
import { containsPii } from 'ferrule/dataflow';

// What the shapes of section 2.6 mean as expressions with look-around, to compare with.
const REFERENCE: { pattern: RegExp; validate?: (match: string) => boolean }[] = [
  { pattern: /\b[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,}\b/gi },
  { pattern: /\b\d{3}-\d{2}-\d{4}\b/g },
  { pattern: /(?<![\d.])(?:\+?1[ -]?)?\(?\d{3}\)?[ -]?\d{3}[ -]?\d{4}(?!\.?\d)/g },
  {
    pattern: /(?<!\.)\b(?:\d[ -]?){12,18}\d\b(?!\.\d)/g,
    validate: (match) => {
      const digits = match.replace(/\D/g, '');
      if (!/^[2-6]/.test(digits)) return false;
      let sum = 0;
      [...digits].reverse().forEach((digit, place) => {
        const doubled = Number(digit) * (1 + (place % 2));
        sum += doubled > 9 ? doubled - 9 : doubled;
      });
      return sum % 10 === 0;
    },
  },
  { pattern: /\b[A-Z]{2}\d{2}[A-Z0-9]{11,30}\b/g },
  { pattern: /\b(?:bc1|[13])[a-zA-HJ-NP-Z0-9]{25,39}\b/g },
];

const reference = (text: string): boolean =>
  REFERENCE.some(({ pattern, validate }) => [...text.matchAll(pattern)].some(([match]) => validate?.(match) ?? true));

describe('2.6 containsPii', () => {
  it.each([null, undefined, 7, {}])('%j is no text', (text) => {
    for (const patterns of [undefined, []]) {
      expect(() => containsPii(text as never, patterns)).toThrow(new TypeError('containsPii needs a string.'));
    }
  });

  it.each([
    'alice@example.com',
    'A.B+c%_-@EX-1.com',
    '123-45-6789',
    '555-123-4567',
    '(555) 123-4567',
    '+1 555 123 4567',
    '5551234567',
    '15551234567',
    '4111 1111 1111 1111',
    '378282246310005',
    'ａｌｉｃｅ＠ｅｘａｍｐｌｅ．ｃｏｍ',
    '123\u200b-45\u00ad-6789',
  ])('finds %j', (text) => expect(containsPii(text)).toBe(true));

  it.each(['a@b', 'a@b.c', '@b.com', 'a@@b.com', '25551234567', '1700000000000', '0.5551234567', '5551234567.5', ''])(
    'leaves %j',
    (text) => expect(containsPii(text)).toBe(false),
  );

  it('agrees with the expressions on 20,000 random texts near the shapes', () => {
    let seed = 7;
    const next = (below: number): number => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      return (seed >>> 8) % below;
    };
    const pieces = ['a', 'b.c', '@', '.', '-', ' ', '1', '5', '555', '123', '4567', '(', ')', '+', '_', '4111', '1111', 'GB82', 'WEST', 'bc1q', 'é', '123-45-6789', 'com', '%', '\n'];
    let found = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const text = Array.from({ length: 1 + next(10) }, () => pieces[next(pieces.length)]).join('');
      expect(containsPii(text), JSON.stringify(text)).toBe(reference(text));
      if (reference(text)) found += 1;
    }
    expect(found).toBeGreaterThan(500);
  });

  it('better: long dotted runs take linear time', () => {
    const start = performance.now();
    containsPii(`${'a.'.repeat(200_000)}`);
    containsPii(`a@${'b.'.repeat(200_000)}`);
    containsPii('a@b.'.repeat(100_000));
    expect(performance.now() - start).toBeLessThan(2000);
  });

  it('goes straight into array methods; own patterns replace the built-in ones', () => {
    expect(['x', 'a@b.co'].filter(containsPii as (text: string) => boolean)).toEqual(['a@b.co']);
    const pattern = /emp-\d+/;
    expect(containsPii('emp-7', [{ kind: 'employee', pattern }])).toBe(true);
    expect(containsPii('a@b.co', [{ kind: 'employee', pattern }])).toBe(false);
    expect(containsPii('emp-7 emp-8', [{ kind: 'e', pattern: /emp-\d/g, validate: (m) => m === 'emp-8' }])).toBe(true);
    expect(containsPii('x', [])).toBe(false);
  });
});
