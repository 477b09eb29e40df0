// Which test proves which section of specs 01 and 02. The specs are no part of the repository, their
// section numbers are kept here: a section that no title quotes any more, and that names no test under
// ELSEWHERE, fails. So does a line of the behaviour checklist whose test is gone.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHECKLIST, ELSEWHERE, SECTIONS, type Spec } from './sections.js';

const here = import.meta.dirname;
const files = readdirSync(here, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.(spec|test-d)\.ts$/.test(file) && !file.startsWith('sections'));
const textOf = new Map(files.map((file) => [file, readFileSync(join(here, file), 'utf8')]));

/** The spec whose numbers the titles of a file are, unless they name another. */
function homeOf(file: string): Spec | undefined {
  if (file === 'executor/callers.spec.ts') return undefined;
  if (/^(executor\/|streaming)/.test(file)) return '02';
  return /^(registry\/|schema\/|types\/|(audit|builder|core|errors)\.)/.test(file) ? '01' : undefined;
}

/** What stands in quotes where a title stands: after describe, it, test, a table, or as the name of a row. */
function titlesOf(text: string): string[] {
  const titles: string[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('// --- ')) titles.push(line.slice(7));
    if (!/\b(describe|it|test)(\.\w+)*\(|\)\(['"`]|^\s*\{? *site: /.test(line)) continue;
    for (const [, , title] of line.matchAll(/(['"`])((?:\\.|(?!\1).)*)\1/g)) titles.push(title!);
  }
  return titles;
}

/** The sections that a title quotes. A whole number is one only at the start, or after "section". */
function quotedBy(title: string, home: Spec | undefined): string[] {
  const found: string[] = [];
  let spec: string | undefined = home;
  for (const { 0: word, 1: named, index } of title.matchAll(/\b(?:spec )?(0\d)(?= sections?\b| \d)|\b(?:\d+(?:\.\d+)?|Appendix [AC]|B\.\d)(?![\w%])/g)) {
    if (named !== undefined) spec = named;
    else if (/\D/.test(word) || /^[\d., ]*$/.test(title.slice(0, index)) || /sections?(?: [\d.]+(?:,| and| to))* $/.test(title.slice(0, index))) {
      // Items of a list count for its section: `22 row 5`, `10.9`.
      found.push(`${spec} ${word}`, `${spec} ${word.split('.')[0]}`);
    }
  }
  return found;
}

const quoted = new Set([...textOf].flatMap(([file, text]) => titlesOf(text).flatMap((title) => quotedBy(title, homeOf(file)))));

describe.each(Object.keys(SECTIONS) as Spec[])('spec %s', (spec) => {
  test('every section is quoted by a title, or names the test that proves it', () => {
    const unproven = SECTIONS[spec].filter((section) => !quoted.has(`${spec} ${section}`) && ELSEWHERE[`${spec} ${section}`] === undefined);
    expect(unproven).toEqual([]);
  });

  test('a section that is not there is not quoted (this test can fail)', () => {
    expect(quoted.has(`${spec} 99.1`)).toBe(false);
    expect(quotedBy('7.99 and 100 calls', '02')).toEqual(['02 7.99', '02 7']);
    expect(quotedBy('spec 01 section 6.5.1', undefined)).toContain('01 6.5');
  });
});

test.each(Object.entries(ELSEWHERE))('%s is proven by %j', (section, [file, title]) => {
  const [spec, number] = section.split(' ') as [Spec, string];
  expect(SECTIONS[spec].some((one) => one === section.slice(3) || one === number)).toBe(true);
  expect(textOf.get(file), file).toContain(title);
});

test.each(CHECKLIST)('checklist, %s: %s', (_, __, file, title) => {
  expect(textOf.get(file), file).toContain(title);
});
