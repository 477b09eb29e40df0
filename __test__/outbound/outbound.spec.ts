import fc from 'fast-check';
import * as outbound from 'ferrule/outbound';
import { describe, expect, it } from 'vitest';

const { COMMENTARY_WRAP_CLOSE, COMMENTARY_WRAP_OPEN, OUTBOUND_COMMENTARY_PATTERNS, freshRegex, sha256Hex, splitByWrapEnvelope } =
  outbound;

describe('03 section 4: outbound', () => {
  it('exports exactly six values', () => {
    expect(Object.keys(outbound).sort()).toEqual([
      'COMMENTARY_WRAP_CLOSE',
      'COMMENTARY_WRAP_OPEN',
      'OUTBOUND_COMMENTARY_PATTERNS',
      'freshRegex',
      'sha256Hex',
      'splitByWrapEnvelope',
    ]);
    expect([COMMENTARY_WRAP_OPEN, COMMENTARY_WRAP_CLOSE]).toEqual(['<<<commentary>>>', '<<</commentary>>>']);
  });

  it('seven frozen patterns in order', () => {
    expect(Object.isFrozen(OUTBOUND_COMMENTARY_PATTERNS)).toBe(true);
    expect(OUTBOUND_COMMENTARY_PATTERNS.map((p) => p.reason)).toEqual([
      'tool.call.start-payload-signature',
      'tool.call.delta-payload-signature',
      'tool.call.end-payload-signature',
      'tool.execute.end-payload-signature',
      'agent.fanout-event-signature',
      'context.compacted-event-signature',
      'agent.model.fellback-event-signature',
    ]);
    for (const entry of OUTBOUND_COMMENTARY_PATTERNS) {
      expect(Object.isFrozen(entry)).toBe(true);
      expect(entry.regex.flags).toBe('g');
      expect(entry.description.length).toBeGreaterThan(0);
      expect(freshRegex(entry.regex).test(`${COMMENTARY_WRAP_OPEN} x ${COMMENTARY_WRAP_CLOSE}`)).toBe(false);
    }
  });

  it.each([
    ['{"type":"tool.call.start","toolName":"x"}', 0],
    ['{\n "type" : "tool.call.start",\n "toolName": "x" }', 0],
    ['{"type":"tool.call.delta","argsDelta":"x"}', 1],
    ['{"type":"tool.call.end","finalArgs":{}}', 2],
    ['{"type":"tool.execute.end","result":1}', 3],
    ['{"type":"agent.fanout.spawned"}', 4],
    ['{"type":"agent.fanout.merged","n":1}', 4],
    ['{"type":"context.compacted","originalTokens":1}', 5],
    ['{"type":"agent.model.fellback","fromModel":"a"}', 6],
  ])('%s matches pattern %i only', (text, index) => {
    const hits = OUTBOUND_COMMENTARY_PATTERNS.map((p) => freshRegex(p.regex).test(`so: ${text}.`));
    expect(hits.indexOf(true)).toBe(index);
    expect(hits.filter(Boolean)).toHaveLength(1);
  });

  it.each([
    '{"id":1,"type":"tool.call.start","toolName":"x"}',
    "{'type':'tool.call.start','toolName':'x'}",
    '{"type":"TOOL.CALL.START","toolName":"x"}',
    '{"type":"tool.call.start"}',
    '{"type":"tool.call.start","toolName":""}',
    '{"type":"tool.call.start","toolName":"x"',
    '{"type":"tool.execute.end","results":1}',
  ])('%s matches none', (text) => {
    expect(OUTBOUND_COMMENTARY_PATTERNS.some((p) => freshRegex(p.regex).test(text))).toBe(false);
  });

  it('freshRegex copies source and flags and starts at 0', () => {
    const re = /a/gi;
    re.lastIndex = 3;
    const copy = freshRegex(re);
    expect(copy).not.toBe(re);
    expect([copy.source, copy.flags, copy.lastIndex]).toEqual(['a', 'gi', 0]);
  });

  const kinds = (text: string) => splitByWrapEnvelope(text, '[[', ']]').map((s) => `${s.kind[0]}:${s.text}`);
  it.each([
    ['', []],
    ['plain', ['p:plain']],
    ['a[[b]]c', ['p:a', 'w:[[b]]', 'p:c']],
    ['[[a]][[b]]', ['w:[[a]]', 'w:[[b]]']],
    ['a[[b', ['p:a', 'p:[[b']],
    ['a]]b', ['p:a]]b']],
    ['[[a[[b]]c]]', ['w:[[a[[b]]', 'p:c]]']],
  ])('splits %j', (text, expected) => expect(kinds(text)).toEqual(expected));

  it('the pieces joined give the text', () => {
    const text = fc.array(fc.constantFrom('[[', ']]', 'x', '[', ' ')).map((p) => p.join(''));
    fc.assert(
      fc.property(text, (t) => {
        expect(splitByWrapEnvelope(t, '[[', ']]').map((s) => s.text).join('')).toBe(t);
      }),
    );
    expect(splitByWrapEnvelope('abc', '', ']')).toEqual([{ kind: 'plain', text: 'abc' }]);
  });

  it('sha256Hex over UTF-8', () => {
    expect(sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(sha256Hex('é')).toBe('4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c');
  });
});
