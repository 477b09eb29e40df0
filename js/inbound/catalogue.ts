/**
 * The ten imperative patterns as JavaScript objects. Their native twins, in `src/inbound`, do the
 * scanning; these are what callers look at, extend and pass back.
 *
 * @packageDocumentation
 */

/** The ids of the built-in patterns. */
export type ImperativePatternName =
  | 'ignore-previous-instructions'
  | 'forget-instructions'
  | 'override-instructions'
  | 'system-prompt-leak'
  | 'role-reassignment'
  | 'developer-mode'
  | 'jailbreak-marker'
  | 'tool-call-injection'
  | 'role-tag-injection'
  | 'untrusted-content-delimiter-injection';

/** A phrase that speaks to the model instead of informing it. */
export interface ImperativePattern {
  /** Built-in id, or any string for a pattern of your own. */
  readonly name: ImperativePatternName | (string & {});
  /** What the pattern catches, for people. */
  readonly description: string;
  /**
   * Lower-case substrings of which at least one occurs in every text the expression can match; an
   * empty list means "always try".
   */
  readonly prefilter: readonly string[];
  /**
   * The expression. A missing `g` is added, `y` is dropped, `lastIndex` is neither read nor changed.
   */
  readonly regex: RegExp;
  /** What a match is replaced with, literally. */
  readonly mask: string;
}

/** What the built-in patterns are masked with. @internal */
export const MASK = '[REDACTED:imperative-pattern]';

function builtIn(
  name: ImperativePatternName,
  description: string,
  prefilter: readonly string[],
  regex: RegExp,
): ImperativePattern {
  return { name, description, prefilter, regex, mask: MASK };
}

/**
 * The built-in catalogue: ten patterns, all with flags `gi` and one mask. Passing it, or entries of
 * it, to a function of this room uses the linear native scanner.
 */
export const BUILT_IN_IMPERATIVE_PATTERNS: readonly ImperativePattern[] = [
  builtIn(
    'ignore-previous-instructions',
    'Tells the model to drop what it was told before.',
    ['ignore', 'disregard', 'forget'],
    /(?:\b|(?<=\\[nrt]))(?:ignore|disregard|forget)(?:\s|\\[nrt])+(?:all(?:\s|\\[nrt])+)?(?:the(?:\s|\\[nrt])+)?(?:previous|prior|above|earlier|preceding|original)(?:\s|\\[nrt])+(?:instruction|prompt|message|directive|rule)s?\b/gi,
  ),
  builtIn(
    'forget-instructions',
    'Tells the model to erase the conversation so far.',
    ['forget', 'erase', 'clear', 'wipe'],
    /(?:\b|(?<=\\[nrt]))(?:forget|erase|clear|wipe)(?:\s|\\[nrt])+(?:everything|all)(?:\s|\\[nrt])+(?:above|before|previous|i(?:\s|\\[nrt])+told|i(?:\s|\\[nrt])+said)\b/gi,
  ),
  builtIn(
    'override-instructions',
    'Announces instructions that replace the real ones.',
    ['override', 'new instructions', 'updated instructions', 'replace', 'new', 'updated'],
    /(?:\b|(?<=\\[nrt]))(?:(?:override|replace)(?:\s|\\[nrt])+(?:the(?:\s|\\[nrt])+)?(?:system(?:\s|\\[nrt])+)?(?:prompt|instructions?|directives?)|new(?:\s|\\[nrt])+(?:instructions?|prompts?|directives?)(?:\s|\\[nrt])*(?::|follow|are)|updated(?:\s|\\[nrt])+(?:instructions?|prompts?|directives?))\b/gi,
  ),
  builtIn(
    'system-prompt-leak',
    'Asks for the system prompt or the configuration.',
    [
      'system prompt',
      'system message',
      'reveal',
      'print',
      'show',
      'output',
      'repeat',
      'expose',
      'disclose',
    ],
    /(?:\b|(?<=\\[nrt]))(?:reveal|print|show|output|repeat|expose|disclose)(?:\s|\\[nrt])+(?:your|the)(?:\s|\\[nrt])+(?:system(?:\s|\\[nrt])+(?:prompt|message|instructions?)|hidden(?:\s|\\[nrt])+instructions?|initial(?:\s|\\[nrt])+(?:prompt|instructions?)|configuration)\b/gi,
  ),
  builtIn(
    'role-reassignment',
    'Gives the model another role.',
    ['you are now', 'you are no longer', 'pretend', 'act as', 'you', 'act'],
    /(?:\b|(?<=\\[nrt]))(?:you(?:\s|\\[nrt])+are(?:\s|\\[nrt])+(?:now|no(?:\s|\\[nrt])+longer)(?:\s|\\[nrt])+(?:a|an|the)|pretend(?:\s|\\[nrt])+(?:to(?:\s|\\[nrt])+be|you(?:\s|\\[nrt])+are)|act(?:\s|\\[nrt])+as(?:\s|\\[nrt])+(?:a|an|the|if(?:\s|\\[nrt])+you))\b/gi,
  ),
  builtIn(
    'developer-mode',
    'Claims a mode without limits.',
    ['developer mode', 'admin mode', 'unrestricted', 'enter', 'enable', 'activate'],
    /(?:\b|(?<=\\[nrt]))(?:enter|enable|activate)(?:\s|\\[nrt])+(?:developer|admin|debug|unrestricted|god|root)(?:\s|\\[nrt])+mode\b/gi,
  ),
  builtIn(
    'jailbreak-marker',
    'Marks what follows as a jailbroken answer.',
    ['jailbreak', 'jailbroken', 'jailbroke'],
    /(?:\b|(?<=\\[nrt]))(?:jailbroke|jailbroken)(?:\s|\\[nrt])+(?:mode|response|model|assistant)\b/gi,
  ),
  builtIn(
    'tool-call-injection',
    'Imitates the markup of a tool call.',
    ['<tool_use', '<function_call', '<invoke', '<tool_call'],
    /<(?:tool_use|function_call|invoke|tool_call)\b[^>]*>/gi,
  ),
  builtIn(
    'role-tag-injection',
    'Imitates the tags that separate roles in a chat template.',
    ['<|im_start|', '<|system|', '<|assistant|', '<|user|', '<|im_end|'],
    /<\|(?:im_start|system|assistant|user|im_end)\|>/gi,
  ),
  builtIn(
    'untrusted-content-delimiter-injection',
    'Imitates the envelope around untrusted content.',
    ['untrusted_content'],
    /<<<(?:\s|\\[nrt])*\/?(?:\s|\\[nrt])*untrusted_content/gi,
  ),
];

/** All prefilter substrings of the built-in catalogue, lower case, without repeats. Frozen. */
export const IMPERATIVE_PREFILTER_SUBSTRINGS: readonly string[] = Object.freeze([
  ...new Set(BUILT_IN_IMPERATIVE_PATTERNS.flatMap((p) => p.prefilter.map((s) => s.toLowerCase()))),
]);

const builtInIndex = new Map<RegExp, number>(
  BUILT_IN_IMPERATIVE_PATTERNS.map((pattern, index) => [pattern.regex, index]),
);

/** Where a pattern stands in the catalogue; undefined for one of the caller's own. @internal */
export function catalogueIndex(pattern: ImperativePattern): number | undefined {
  return pattern.mask === MASK ? builtInIndex.get(pattern.regex) : undefined;
}

/** All patterns of the catalogue, one bit each. @internal */
export const ALL_BITS: number = (1 << BUILT_IN_IMPERATIVE_PATTERNS.length) - 1;

/**
 * The bits of a list that holds catalogue patterns only, each once and in catalogue order; undefined
 * for any other list.
 *
 * @internal
 */
export function catalogueBits(patterns: readonly ImperativePattern[] | null | undefined): number | undefined {
  // An option of null is one not given, as everywhere.
  if (patterns === undefined || patterns === null || patterns === BUILT_IN_IMPERATIVE_PATTERNS) return ALL_BITS;
  let bits = 0;
  for (const pattern of patterns) {
    const index = catalogueIndex(pattern);
    // Also false for a repeated or misplaced one: what is set already is above the new bit.
    if (index === undefined || bits >= 1 << index) return undefined;
    // A renamed entry still scans natively, but reports its own name: leave it to the list's walk.
    if (pattern.name !== BUILT_IN_IMPERATIVE_PATTERNS[index]?.name) return undefined;
    bits |= 1 << index;
  }
  return bits;
}

/** The names for set bits, in catalogue order. @internal */
export function catalogueNames(bits: number): string[] {
  return BUILT_IN_IMPERATIVE_PATTERNS.filter((_, index) => (bits & (1 << index)) !== 0).map((p) => p.name);
}
