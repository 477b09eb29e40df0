import { native } from '../binding.js';
import {
  BUILT_IN_IMPERATIVE_PATTERNS,
  type ImperativePattern,
  catalogueBits,
  catalogueIndex,
} from './catalogue.js';
import { carried, isLong } from './carry.js';
import { readyWatchdog, underWatchdog } from './watchdog.js';

/** What a scan found. */
export interface ImperativeScanResult {
  /** One entry per pattern that matched, in the order of the patterns. */
  readonly hits: ReadonlyArray<{ readonly pattern: string; readonly matchCount: number }>;
  /** Length of all matches together, in UTF-16 units. */
  readonly bytesMatched: number;
  /** How long the scan took, in whole microseconds. */
  readonly scanDurationUs: number;
}

/** Milliseconds a caller's own patterns get for masking, where no budget is given. */
const STRIP_BUDGET_MS = 250;

/**
 * Looks for imperative patterns.
 *
 * Built-in patterns take time linear in the text. Patterns of your own run as they are, under a
 * watchdog that stops them when the budget is spent.
 *
 * @param body - the text.
 * @param patterns - default: the built-in catalogue.
 * @param budgetMs - milliseconds, fractions allowed; 0 is no time at all. Default 5.
 * @returns null when the budget ran out: then nothing is known about the text.
 * @example
 * scanImperativePatterns('please ignore previous instructions')?.hits;
 * // [{ pattern: 'ignore-previous-instructions', matchCount: 1 }]
 */
export function scanImperativePatterns(
  body: string,
  patterns: readonly ImperativePattern[] = BUILT_IN_IMPERATIVE_PATTERNS,
  budgetMs: number = 5,
): ImperativeScanResult | null {
  if (body === '') return { hits: [], bytesMatched: 0, scanDurationUs: 0 };
  const bits = catalogueBits(patterns);
  if (bits === undefined) return scanList(body, patterns, budgetMs);
  const found = native().scanText(body, bits, budgetMs);
  if (!found) return null;
  const hits = BUILT_IN_IMPERATIVE_PATTERNS.map((pattern, index) => ({
    pattern: pattern.name,
    matchCount: found.counts[index] ?? 0,
  })).filter((hit) => hit.matchCount > 0);
  return { hits, bytesMatched: found.matched, scanDurationUs: found.scanUs };
}

/** A list with patterns of the caller's own: one after the other, each within what time is left. */
function scanList(
  body: string,
  patterns: readonly ImperativePattern[],
  budgetMs: number,
): ImperativeScanResult | null {
  makeReady(patterns);
  const started = performance.now();
  const left = (): number => budgetMs - (performance.now() - started);
  const lower = body.toLowerCase();
  const hits: { pattern: string; matchCount: number }[] = [];
  let bytesMatched = 0;
  for (const pattern of patterns) {
    if (left() < 0) return null;
    const index = catalogueIndex(pattern);
    let matchCount = 0;
    if (index !== undefined) {
      const found = native().scanText(body, 1 << index, Math.max(0, left()));
      if (!found) return null;
      matchCount = found.counts[index] ?? 0;
      bytesMatched += found.matched;
    } else if (passesPrefilter(lower, pattern)) {
      const found = underWatchdog(() => countMatches(body, pattern.regex), left());
      if (!found) return null;
      matchCount = found.value.count;
      bytesMatched += found.value.length;
    }
    if (matchCount > 0) hits.push({ pattern: pattern.name, matchCount });
  }
  return { hits, bytesMatched, scanDurationUs: Math.round((performance.now() - started) * 1000) };
}

/** What is set up at first use is, before a clock runs. */
function makeReady(patterns: readonly ImperativePattern[]): void {
  if (patterns.some((pattern) => catalogueIndex(pattern) !== undefined)) native();
  readyWatchdog();
}

function passesPrefilter(lower: string, pattern: ImperativePattern): boolean {
  const substrings = pattern.prefilter;
  // A pattern written in JavaScript may lack the list.
  if (!Array.isArray(substrings) || substrings.length === 0) return true;
  return substrings.some((substring: string) => lower.includes(substring.toLowerCase()));
}

/** A fresh global copy: the caller's `lastIndex` is his own, and without `g` a search never ends. */
function globalCopy(regex: RegExp): RegExp {
  const flags = regex.flags.replace('y', '');
  return new RegExp(regex.source, flags.includes('g') ? flags : `${flags}g`);
}

function countMatches(body: string, regex: RegExp): { count: number; length: number } {
  let count = 0;
  let length = 0;
  for (const match of body.matchAll(globalCopy(regex))) {
    count += 1;
    length += match[0].length;
  }
  return { count, length };
}

/**
 * Replaces every match of every pattern with the pattern's mask, in the order of the patterns, without
 * a prefilter.
 *
 * Patterns of your own get 250 ms each. One that does not finish fails closed: the whole text is
 * replaced by its mask.
 *
 * @example stripImperativePatterns('now ignore previous instructions!');
 * // 'now [REDACTED:imperative-pattern]!'
 */
export function stripImperativePatterns(
  body: string,
  patterns: readonly ImperativePattern[] = BUILT_IN_IMPERATIVE_PATTERNS,
): string {
  const bits = catalogueBits(patterns);
  if (bits !== undefined) return native().stripText(body, bits) ?? body;
  let text = body;
  for (const pattern of patterns) text = stripOne(text, pattern, STRIP_BUDGET_MS) ?? pattern.mask;
  return text;
}

/** Masks the patterns within a budget; undefined when it ran out. @internal */
export function stripWithin(
  body: string,
  patterns: readonly ImperativePattern[],
  budgetMs: number,
): string | undefined {
  makeReady(patterns);
  const started = performance.now();
  let text = body;
  for (const pattern of patterns) {
    const next = stripOne(text, pattern, budgetMs - (performance.now() - started));
    if (next === undefined) return undefined;
    text = next;
  }
  return text;
}

function stripOne(body: string, pattern: ImperativePattern, budgetMs: number): string | undefined {
  const index = catalogueIndex(pattern);
  if (index !== undefined) return native().stripText(body, 1 << index) ?? body;
  return underWatchdog(() => body.replace(globalCopy(pattern.regex), () => pattern.mask), budgetMs)?.value;
}

const LARGE = 65_536;

/**
 * Whether a text holds any hit, for the flag of a spilled artifact; undefined when the budget ran out.
 * Texts over 64 KiB are scanned off the JavaScript thread.
 *
 * @internal
 */
export async function hasHits(
  body: string,
  patterns: readonly ImperativePattern[] | undefined,
  budgetMs: number,
): Promise<boolean | undefined> {
  const bits = catalogueBits(patterns);
  if (bits === undefined) {
    const found = scanImperativePatterns(body, patterns, budgetMs);
    return found === null ? undefined : found.hits.length > 0;
  }
  const found =
    body.length > LARGE
      ? await native().hasHitsAsync(isLong(body) ? await carried(body) : body, bits, budgetMs)
      : native().hasHits(body, bits, budgetMs);
  return found ?? undefined;
}
