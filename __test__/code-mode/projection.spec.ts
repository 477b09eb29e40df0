import { projectToolApi } from 'ferrule/code-mode';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const tools = [
  { name: 'mail.send', description: 'Send a message. Needs an address.', __source: { kind: 'mcp', serverIdentity: 'mail' } as const },
  { name: 'find', description: 'Find  things\n by name', __source: { kind: 'first-party' } as const },
  { name: 'search', __source: { kind: 'built-in', subsystem: 'web' } as const },
  { name: 'pdf', description: '', __source: { kind: 'skill', skillName: 'pdf', trustLevel: 'trusted' } as const },
  { name: 'web', description: 'e.g. this', __source: { kind: 'web-search', providerName: 'p' } as const },
  { name: 'loose', description: 'x'.repeat(121) },
];

describe('6.2 projectToolApi', () => {
  it('names keep order and duplicates', () => {
    expect(projectToolApi([{ name: 'b' }, { name: 'a' }, { name: 'b' }]).names).toEqual(['b', 'a', 'b']);
  });

  it('the catalogue is grouped, labels sorted, summaries short', () => {
    expect(projectToolApi(tools).catalogue.split('\n')).toEqual([
      '## built-in:web',
      '- search: (no description)',
      '## first-party',
      '- find: Find things by name',
      '## mcp:mail',
      '- mail.send: Send a message.',
      '## skill:pdf',
      '- pdf: (no description)',
      '## tools',
      `- loose: ${'x'.repeat(117)}...`,
      '## web-search:p',
      '- web: e.g.',
    ]);
    expect(projectToolApi([]).catalogue).toBe('');
  });

  it.each([
    [`${'x'.repeat(119)}.`, `${'x'.repeat(119)}.`],
    [`${'x'.repeat(116)}🦊🦊🦊`, `${'x'.repeat(116)}...`],
    ['one.two three', 'one.two three'],
    ['ends with a period.', 'ends with a period.'],
    [' \n ', ''],
  ])('summary of %s', (description, expected) => {
    expect(projectToolApi([{ name: 'a', description }]).catalogue).toBe(`## tools\n- a: ${expected}`);
  });

  it('an unknown source kind counts as none', () => {
    expect(projectToolApi([{ name: 'a', __source: { kind: 'x' } as never }]).catalogue).toBe('## tools\n- a: (no description)');
  });

  it('signature blocks', () => {
    const api = projectToolApi([
      { name: 'find', description: ' a\n b ', inputSchema: z.object({ q: z.string() }), outputSchema: z.array(z.string()) },
      { name: 'a.b' },
      { name: 'a-b', description: '' },
      { name: 'delete', description: 'ends */ early' },
      { name: 'ünder' },
    ]);
    expect(api.signatureFor('find')).toBe('/** a b */\ntools.find = (input: { "q": string }): Promise<string[]>');
    expect(api.signatureFor('a.b')).toBe('/** (no description) */\ntools["a.b"] = (input: unknown): Promise<unknown>');
    expect(api.signatureFor('a-b')).toBe('/**  */\ntools["a-b"] = (input: unknown): Promise<unknown>');
    expect(api.signatureFor('delete')).toBe('/** ends *\\/ early */\ntools.delete = (input: unknown): Promise<unknown>');
    expect(api.signatureFor('ünder')).toContain('tools["ünder"]');
    expect(api.signatureFor('nope')).toBeUndefined();
    expect(api.signatureFor('constructor')).toBeUndefined();
  });

  it('signatureFor uses the last of two tools with one name, search shows both', () => {
    const api = projectToolApi([{ name: 'a', description: 'one' }, { name: 'a', description: 'two' }]);
    expect(api.signatureFor('a')).toContain('two');
    expect(api.search('').split('\n\n')).toHaveLength(2);
  });

  it('signaturesFor keeps the order asked for and skips unknown names', () => {
    const api = projectToolApi([{ name: 'a' }, { name: 'b' }]);
    expect(api.signaturesFor(['b', 'x', 'a'])).toBe(`${api.signatureFor('b')}\n\n${api.signatureFor('a')}`);
    expect(api.signaturesFor(['x'])).toBe('');
  });

  it('search looks into names and descriptions, case-insensitively, up to the limit', () => {
    const api = projectToolApi(tools);
    expect(api.search('FIND')).toBe(api.signatureFor('find'));
    expect(api.search('address')).toBe(api.signatureFor('mail.send'));
    expect(api.search('zzz')).toBe('');
    expect(api.search('', 2)).toBe(api.signaturesFor(['mail.send', 'find']));
    expect(api.search('', 0)).toBe('');
    expect(api.search('', -1)).toBe('');
    const many = projectToolApi(Array.from({ length: 12 }, (_, i) => ({ name: `t${i}` })));
    expect(many.search('').split('\n\n')).toHaveLength(10);
    const { search, signatureFor, signaturesFor } = api;
    expect([search('find'), signatureFor('find'), signaturesFor(['find'])]).toEqual(Array(3).fill(api.signatureFor('find')));
  });

  it('both sides show what their schema takes: results are checked, and passed on as they are', () => {
    const schema = z.object({ unit: z.string().default('c') });
    const block = projectToolApi([{ name: 't', inputSchema: schema, outputSchema: schema }]).signatureFor('t');
    expect(block).toContain('(input: { "unit"?: string }): Promise<{ "unit"?: string }>');
  });

  it('a schema that throws costs its own signature only', () => {
    const bad = new Proxy({}, { get: () => { throw new Error('no'); }, has: () => { throw new Error('no'); } });
    const api = projectToolApi([{ name: 'bad', inputSchema: bad }, { name: 'good', inputSchema: z.string() }]);
    expect(api.search('').split('\n\n').map((block) => block.split('\n')[1])).toEqual([
      'tools.bad = (input: unknown): Promise<unknown>',
      'tools.good = (input: string): Promise<unknown>',
    ]);
  });
});
