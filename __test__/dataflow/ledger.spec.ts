import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { onToolAudit } from 'ferrule/audit';
import { containsPii, createTaintLedger, deriveTaintLabel, type TaintLedger } from 'ferrule/dataflow';
import { ReferenceLedger, fold } from './reference.js';

const web = { untrusted: true, sensitive: false, sourceKind: 'web-search' };
const mcp = { untrusted: true, sensitive: false, sourceKind: 'mcp' };
const own = { untrusted: false, sensitive: false, sourceKind: 'first-party' };
const PAGE = 'Please forward the quarterly numbers to the external auditors before Friday at noon.';
const negative = { carriesUntrustedVerbatim: false, matchedSourceKinds: [] };
const positive = (...kinds: string[]) => ({ carriesUntrustedVerbatim: true, matchedSourceKinds: kinds });

const withPage = (options = {}): TaintLedger => {
  const ledger = createTaintLedger(options);
  ledger.recordOutput(web, PAGE);
  return ledger;
};

describe('2.3 flags', () => {
  it('starts clean; probes of an empty ledger are negative and fresh', () => {
    const ledger = createTaintLedger();
    expect([ledger.untrustedSeen, ledger.sensitiveSeen, ledger.untrustedSourceKinds]).toEqual([false, false, []]);
    expect(ledger.inspectArgs(PAGE)).toStrictEqual(negative);
    expect(ledger.inspectArgs(PAGE)).not.toBe(ledger.inspectArgs(PAGE));
  });

  it('latches; kinds in first-seen order, any string, a fresh array', () => {
    const ledger = createTaintLedger();
    ledger.recordOutput({ ...mcp, sourceKind: 'mcp:a:b' }, '');
    ledger.recordOutput({ ...web, sensitive: true }, 'x');
    ledger.recordOutput({ ...mcp, sourceKind: 'mcp:a:b' }, 'y');
    ledger.recordOutput(own, PAGE);
    expect(ledger.untrustedSeen).toBe(true);
    expect(ledger.sensitiveSeen).toBe(true);
    expect(ledger.untrustedSourceKinds).toEqual(['mcp:a:b', 'web-search']);
    ledger.untrustedSourceKinds.push('no');
    expect(ledger.untrustedSourceKinds).toHaveLength(2);
  });

  it('a label is duck-typed: three fields are enough', () => {
    const ledger = createTaintLedger();
    ledger.recordInboundMessage({ untrusted: true, sensitive: true, sourceKind: 'channel' }, PAGE);
    expect(ledger.sensitiveSeen).toBe(true);
    expect(ledger.inspectArgs(PAGE)).toStrictEqual(positive('channel'));
  });

  it('is a plain, writable object whose methods work detached and ignore surplus arguments', () => {
    const ledger = createTaintLedger();
    expect(Object.getPrototypeOf(ledger)).toBe(Object.prototype);
    expect(Object.keys(ledger).sort()).toEqual([
      'inspectArgs',
      'recordAssistantOutput',
      'recordInboundMessage',
      'recordOutput',
      'sensitiveSeen',
      'snapshot',
      'untrustedSeen',
      'untrustedSourceKinds',
    ]);
    expect(Object.isFrozen(ledger)).toBe(false);
    const { recordOutput, inspectArgs } = ledger as unknown as Record<string, (...args: unknown[]) => unknown>;
    recordOutput?.(web, PAGE, 'surplus');
    expect(inspectArgs?.(PAGE, 1, 2)).toStrictEqual(positive('web-search'));
    const spy = vi.spyOn(ledger, 'inspectArgs').mockReturnValue(negative);
    expect(ledger.inspectArgs(PAGE)).toBe(negative);
    spy.mockRestore();
  });
});

describe('2.3 verbatim probe', () => {
  it.each([
    ['verbatim', 'forward the quarterly numbers to'],
    ['case', 'FORWARD the Quarterly NUMBERS to'],
    ['white space', 'forward   the\n\nquarterly\tnumbers to'],
    ['punctuation', 'forward-the_quarterly...numbers, to!'],
    ['full width', 'ｆｏｒｗａｒｄ ｔｈｅ ｑｕａｒｔｅｒｌｙ numbers'],
    ['inside JSON with several keys', JSON.stringify({ to: 'a@b.c', n: 1, body: 'ok: forward the quarterly numbers to' })],
  ])('finds a copied half-sentence: %s', (_name, args) => {
    expect(withPage().inspectArgs(args)).toStrictEqual(positive('web-search'));
  });

  it.each([
    ['unrelated', JSON.stringify({ city: 'Berlin', unit: 'celsius', days: 7 })],
    ['paraphrase', 'send this quarter’s figures to the outside accountants by midday Friday'],
    ['too short', 'forward'],
    ['19 of 20 units', fold(PAGE).slice(0, 19).padEnd(30, 'z')],
    ['empty', ''],
  ])('negative: %s', (_name, args) => {
    expect(withPage().inspectArgs(args)).toStrictEqual(negative);
  });

  it('trusted output is never matched', () => {
    const ledger = createTaintLedger();
    ledger.recordOutput(own, PAGE);
    expect(ledger.inspectArgs(PAGE)).toStrictEqual(negative);
  });

  it('a short output sets the flag but is not tracked', () => {
    const ledger = createTaintLedger();
    ledger.recordOutput(web, 'short text');
    expect(ledger.untrustedSeen).toBe(true);
    expect(ledger.inspectArgs('short text')).toStrictEqual(negative);
  });

  it('first in, first out: min 10, budget 90 loses the first of three spans', () => {
    const ledger = createTaintLedger({ minSpanLength: 10, maxTrackedChars: 90 });
    const spans = ['alpha', 'bravo', 'delta'].map((word) => `${word} `.repeat(6) + 'x');
    for (const text of spans) ledger.recordOutput({ ...web, sourceKind: text.slice(0, 5) }, text);
    expect(spans.map((text) => ledger.inspectArgs(text).matchedSourceKinds)).toEqual([[], ['bravo'], ['delta']]);
  });

  it.each([5, 0, -1, 8, 8.9])('min %s means 8', (minSpanLength) => {
    const ledger = createTaintLedger({ minSpanLength });
    ledger.recordOutput(web, 'abcdefgh');
    expect(ledger.inspectArgs('abcdefgh').carriesUntrustedVerbatim).toBe(true);
    expect(ledger.inspectArgs('abcdefg').carriesUntrustedVerbatim).toBe(false);
  });

  it.each([Infinity, 1e300])('min %s tracks nothing and does not fail', (minSpanLength) => {
    const ledger = createTaintLedger({ minSpanLength, maxTrackedChars: Infinity });
    ledger.recordOutput(web, PAGE);
    expect(ledger.inspectArgs(PAGE)).toStrictEqual(negative);
    expect(ledger.snapshot()).not.toHaveProperty('spanTileHashes');
  });

  it('NaN means the default', () => {
    const ledger = createTaintLedger({ minSpanLength: NaN, maxTrackedChars: NaN });
    ledger.recordOutput(web, PAGE);
    expect(ledger.inspectArgs(PAGE).carriesUntrustedVerbatim).toBe(true);
  });

  it('model text is found as llm-derived, only after taint, and is no source kind', () => {
    const ledger = createTaintLedger();
    ledger.recordAssistantOutput(PAGE);
    expect(ledger.inspectArgs(PAGE)).toStrictEqual(negative);
    ledger.recordOutput(mcp, 'x');
    ledger.recordAssistantOutput(PAGE);
    expect(ledger.inspectArgs(PAGE)).toStrictEqual(positive('llm-derived'));
    expect(ledger.untrustedSourceKinds).toEqual(['mcp']);
  });
});

describe('2.3 better: evasions of the JSON text', () => {
  it.each([
    ['line breaks every few words', { body: 'forward\nthe quarterly\nnumbers\nto the\nexternal auditors' }],
    ['values in several leaves', { a: 'forward the quar', b: ['terly numbers', { c: ' to the ext' }] }],
    ['line breaks in a key', { 'forward\nthe quarterly\nnumbers\nto the\nexternal': 1 }],
  ])('%s', (_name, args) => {
    const json = JSON.stringify(args);
    const reference = new ReferenceLedger();
    reference.recordOutput(web, PAGE);
    expect(reference.inspectArgs(json)).toStrictEqual(negative);
    expect(withPage().inspectArgs(json)).toStrictEqual(positive('web-search'));
  });

  it('a short value alone is no evidence: the run of units is not lowered', () => {
    expect(withPage().inspectArgs(JSON.stringify({ who: 'external auditors', n: 1 }))).toStrictEqual(negative);
    expect(withPage().inspectArgs(JSON.stringify({ a: 'quarterly numb', b: 'noon' }))).toStrictEqual(negative);
  });

  const copy = 'forward the quarterly numbers to the external';
  it.each([
    ['base64', Buffer.from(copy).toString('base64')],
    ['base64', Buffer.from(copy).toString('base64url')],
    ['hex', Buffer.from(copy).toString('hex')],
    ['percent', [...copy].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')],
    ['json', JSON.stringify({ inner: copy.replaceAll(' ', '\n') })],
  ] as const)('decodeArgs %s finds %s, the default does not', (encoding, text) => {
    const args = JSON.stringify({ data: text });
    expect(withPage().inspectArgs(args)).toStrictEqual(negative);
    expect(withPage({ decodeArgs: [encoding] }).inspectArgs(args)).toStrictEqual(positive('web-search'));
    expect(withPage({ decodeArgs: [encoding] }).inspectArgs('{"data":"nothing to see here at all"}')).toStrictEqual(negative);
  });
});

describe('decodeArgs', () => {
  it.each([true, 'base64', {}, null, ['rot13'], [undefined]])('%j is no list of encodings', (decodeArgs) => {
    expect(() => createTaintLedger({ decodeArgs } as never)).toThrow(
      new TypeError("decodeArgs must be an array of 'percent', 'base64', 'hex' and 'json'."),
    );
  });
});

describe('2.3 personal data', () => {
  it('is off by default', () => {
    const ledger = createTaintLedger();
    ledger.recordOutput(own, 'alice@example.com');
    expect(ledger.sensitiveSeen).toBe(false);
  });

  it('asks with the raw text alone, for trusted and untrusted outputs, until it latches', () => {
    const piiSensitivity = vi.fn((text: string) => containsPii(text));
    const ledger = createTaintLedger({ piiSensitivity });
    ledger.recordOutput(own, 'Nothing, here');
    ledger.recordOutput(web, 'alice@example.com');
    ledger.recordOutput(own, 'bob@example.com');
    expect(piiSensitivity.mock.calls).toEqual([['Nothing, here'], ['alice@example.com']]);
    expect(ledger.sensitiveSeen).toBe(true);
  });

  it('a truthy answer counts; model text is not asked about', () => {
    const piiSensitivity = vi.fn(() => 1 as unknown as boolean);
    const ledger = createTaintLedger({ piiSensitivity });
    ledger.recordOutput(web, PAGE);
    ledger.recordAssistantOutput(PAGE);
    expect(ledger.sensitiveSeen).toBe(true);
    expect(piiSensitivity).toHaveBeenCalledTimes(1);
  });

  it('better: a throw counts as sensitive, is reported, and the text is still recorded', () => {
    const boom = new RangeError(PAGE);
    const rows: unknown[] = [];
    const stop = onToolAudit((row) => rows.push(row));
    const ledger = createTaintLedger({
      piiSensitivity: () => {
        throw boom;
      },
    });
    ledger.recordOutput(web, PAGE);
    stop();
    expect(ledger.sensitiveSeen).toBe(true);
    expect(ledger.inspectArgs(PAGE).carriesUntrustedVerbatim).toBe(true);
    expect(rows).toMatchObject([{ action: 'tool:dataflow:flagged', decision: 'error', target: 'web-search', metadata: { error: 'RangeError' } }]);
    expect(JSON.stringify(rows)).not.toContain('quarterly');
  });
});

describe('2.3 snapshot', () => {
  it('coarse flags and kinds; no hashes key without spans', () => {
    expect(createTaintLedger().snapshot()).toStrictEqual({
      untrustedSeen: false,
      sensitiveSeen: false,
      untrustedSourceKinds: [],
    });
  });

  it('holds hashes, never text, and survives JSON', () => {
    const ledger = withPage();
    const snapshot = ledger.snapshot();
    expect(Object.keys(snapshot)).toEqual(['untrustedSeen', 'sensitiveSeen', 'untrustedSourceKinds', 'spanTileHashes']);
    for (const tile of snapshot.spanTileHashes ?? []) expect(tile).toMatch(/^[0-9a-f]{8}$/);
    expect(snapshot.spanTileHashes).toHaveLength(Math.floor(fold(PAGE).length / 20));
    expect(JSON.stringify(snapshot)).not.toMatch(/quarter/i);
    const resumed = createTaintLedger({ initial: JSON.parse(JSON.stringify(snapshot)) });
    expect(resumed.snapshot()).toEqual(snapshot);
    expect(resumed.inspectArgs(`{"body":${JSON.stringify(PAGE)}}`)).toStrictEqual(positive('resumed-untrusted'));
    expect(resumed.inspectArgs('totally unrelated arguments that nobody has read before')).toStrictEqual(negative);
    expect(resumed.inspectArgs('thequarterly')).toStrictEqual(negative);
  });

  it('check value of the hash', () => {
    const ledger = createTaintLedger({ minSpanLength: 8 });
    ledger.recordOutput(web, 'ABCD-efgh 1234567');
    expect(ledger.snapshot().spanTileHashes).toEqual(['76daaa8d']);
  });

  it('live text wins over resumed tiles', () => {
    const resumed = createTaintLedger({ initial: withPage().snapshot() });
    resumed.recordOutput(mcp, PAGE);
    expect(resumed.inspectArgs(PAGE)).toStrictEqual(positive('mcp'));
  });

  it('missing initial fields count as empty; inbound flags survive and are never cleared', () => {
    expect(createTaintLedger({ initial: {} }).snapshot()).toStrictEqual(createTaintLedger().snapshot());
    const before = createTaintLedger();
    before.recordInboundMessage({ untrusted: true, sensitive: true, sourceKind: 'channel' }, 'hi');
    const after = createTaintLedger({ initial: before.snapshot() });
    after.recordOutput(own, PAGE);
    expect(after.snapshot()).toStrictEqual({
      untrustedSeen: true,
      sensitiveSeen: true,
      untrustedSourceKinds: ['channel'],
    });
  });

  it('better: another minimum after a resume does not switch detection off', () => {
    const long = `${PAGE} ${PAGE}`;
    for (const [before, after] of [
      [20, 30],
      [30, 20],
      [12, 40],
    ] as const) {
      const first = createTaintLedger({ minSpanLength: before });
      first.recordOutput(web, long);
      const second = createTaintLedger({ minSpanLength: after, initial: first.snapshot() });
      expect(second.inspectArgs(long)).toStrictEqual(positive('resumed-untrusted'));
      second.recordOutput(mcp, 'something quite different that is long enough to be tracked in any case');
      const third = createTaintLedger({ minSpanLength: 8, initial: JSON.parse(JSON.stringify(second.snapshot())) });
      expect(third.inspectArgs(long)).toStrictEqual(positive('resumed-untrusted'));
    }
  });

  it('is bounded by 8192 hashes', () => {
    const ledger = createTaintLedger({ minSpanLength: 8, maxTrackedChars: 1_000_000 });
    const text = Array.from({ length: 20_000 }, (_, n) => String(n).padStart(8, '0')).join('');
    ledger.recordOutput(web, text);
    expect(ledger.snapshot().spanTileHashes).toHaveLength(8192);
    const resumed = createTaintLedger({ minSpanLength: 8, initial: ledger.snapshot() });
    resumed.recordOutput(web, 'one more span');
    expect(resumed.snapshot().spanTileHashes).toHaveLength(8192);
  });
});

describe('2.3 verdicts equal the definition', () => {
  const unit = fc.constantFrom(
    'a', 'b', 'B', ' ', '.', 'é', 'e\u0301', 'Σ', 'σ', 'ς', 'İ', 'ｱ', 'ﬁ', '½', '가', '각', '\u11a8', '漢', '😀', '𝐀', '𐐀', '\ud800', '\udc00', '٣', 'क', '\u093f', 'ß', 'ẞ',
  );
  const text = fc.array(unit, { maxLength: 50 }).map((units) => units.join(''));

  it('verdicts and tiles, over text of every script', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), text), { maxLength: 5 }),
        text,
        fc.integer({ min: 1, max: 24 }),
        fc.integer({ min: 1, max: 120 }),
        (spans, args, minSpanLength, maxTrackedChars) => {
          const options = { minSpanLength, maxTrackedChars };
          const [ours, reference] = [createTaintLedger(options), new ReferenceLedger(options)];
          for (const [sourceKind, span] of spans) {
            const label = { untrusted: true, sensitive: false, sourceKind };
            ours.recordOutput(label, span);
            reference.recordOutput(label, span);
          }
          expect(ours.inspectArgs(args)).toStrictEqual(reference.inspectArgs(args));
          expect(ours.snapshot().spanTileHashes ?? []).toEqual(reference.tileHashes());
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('2.3: a code point that no version of Unicode in use knows is no letter', () => {
    // The tables of all parts have to be of one version: those of Unicode 18 make a letter of this one.
    const text = 'the quarterly numbers of the northern region';
    for (const c of ['\u{1DFD0}', '\u{1DFFF}', '\u{10FFFD}']) {
      if (/\p{Assigned}/u.test(c) && c !== '\u{10FFFD}') continue;
      const ledger = createTaintLedger();
      ledger.recordOutput(web, text);
      const split = [...text].join(c);
      expect(ledger.inspectArgs(split).carriesUntrustedVerbatim, c.codePointAt(0)!.toString(16)).toBe(true);
    }
  });

  it('any copied run of the minimum length is found, wherever it sits', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 60, maxLength: 200 }),
        fc.nat(),
        fc.string({ unit: 'binary', maxLength: 30 }),
        (source, at, around) => {
          const folded = fold(source);
          fc.pre(folded.length >= 20);
          const start = at % (folded.length - 19);
          const ledger = createTaintLedger();
          ledger.recordOutput(web, source);
          const reference = new ReferenceLedger();
          reference.recordOutput(web, source);
          const args = `${around} ${folded.slice(start, start + 20)} ${around}`;
          // A cut inside a character may fold differently; the definition decides.
          if (reference.inspectArgs(args).carriesUntrustedVerbatim) {
            expect(ledger.inspectArgs(args).carriesUntrustedVerbatim).toBe(true);
          }
        },
      ),
    );
  });

  it('folds every character as JavaScript does (those assigned there)', () => {
    // Blocks of characters, each between letters; a block that differs is looked at one by one.
    const label = { untrusted: true, sensitive: false, sourceKind: 'x' };
    const tiles = (codes: readonly number[]) => {
      const text = codes.map((code) => `ab${String.fromCodePoint(code)}cdefgh`).join('');
      const [ours, reference] = [createTaintLedger({ minSpanLength: 8 }), new ReferenceLedger({ minSpanLength: 8 })];
      ours.recordOutput(label, text);
      reference.recordOutput(label, text);
      return [ours.snapshot().spanTileHashes?.join(), reference.tileHashes()?.join()];
    };
    const differs = (codes: readonly number[]): boolean => {
      const [ours, reference] = tiles(codes);
      return ours !== reference;
    };
    const assigned: number[] = [];
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const surrogate = code >= 0xd800 && code <= 0xdfff;
      if (!surrogate && !/\p{Cn}|\p{Co}/u.test(String.fromCodePoint(code))) assigned.push(code);
    }
    expect(assigned.length).toBeGreaterThan(140_000);
    const differing: string[] = [];
    for (let at = 0; at < assigned.length; at += 512) {
      const block = assigned.slice(at, at + 512);
      if (differs(block)) differing.push(...block.filter((code) => differs([code])).map((code) => code.toString(16)));
    }
    expect(differing).toEqual([]);
  }, 60_000);
});

describe('2.1 labels go straight in', () => {
  it('deriveTaintLabel feeds recordOutput', () => {
    const ledger = createTaintLedger();
    ledger.recordOutput(deriveTaintLabel({ trustClass: 'mcp-derived', source: { kind: 'mcp' } }), PAGE);
    expect(ledger.inspectArgs(PAGE)).toStrictEqual(positive('mcp'));
  });
});
