import { native } from '../binding.js';
import type { InboundSanitizationPolicy, ToolTrustClass } from '../core/index.js';
import { type InjectionClassifier, runInjectionClassifier } from '../inspect/index.js';
import { carried, isLong } from './carry.js';
import { type ImperativePattern, MASK, catalogueBits, catalogueNames } from './catalogue.js';
import { scanImperativePatterns, stripWithin } from './scan.js';

/** How the opening line of the envelope starts. */
export const UNTRUSTED_CONTENT_OPEN_PREFIX = '<<<untrusted_content';
/** The closing line of the envelope. */
export const UNTRUSTED_CONTENT_CLOSE = '<<</untrusted_content>>>';

/** The hit reported for hidden characters that amount to an attack. */
const INVISIBLE = 'invisible-unicode';
const DEFAULT_BUDGET_MS = 250;
/** The whole built-in catalogue, as the native side takes it. */
const EVERY_PATTERN = catalogueBits(undefined)!;

/** Options of {@link neutralizeEnvelopeDelimiters}. */
export interface NeutralizeEnvelopeDelimitersOptions {
  /** Also replace every run of three or more `<` by `[[` and of `>` by `]]`. Default false. */
  readonly neutralizeAngleRuns?: boolean;
}

/** What to sanitise, and how. */
export interface InboundSanitizationOptions {
  /** The text. */
  readonly body: string;
  /** An unknown policy acts as `detect-and-flag`. */
  readonly policy: InboundSanitizationPolicy;
  /** Shown as `trust` in the envelope. */
  readonly trustClass: ToolTrustClass;
  /** Shown as `tool` in the envelope. */
  readonly toolName: string;
  /** Shown as `origin` in the envelope. */
  readonly contentOrigin?: string;
  /**
   * Block on any hit instead of masking. A scan that could not finish blocks as well. Default false.
   */
  readonly failClosed?: boolean;
  /** Default: the built-in catalogue. */
  readonly patterns?: readonly ImperativePattern[];
  /** Milliseconds the scan may take. Default 250. */
  readonly budgetMs?: number;
}

/** What was done. Frozen. */
export interface SanitizationOutcome {
  /** The text to use; the one given when nothing was changed. */
  readonly body: string;
  /** Whether `body` differs from the text given. */
  readonly modified: boolean;
  /** Names of the patterns that hit, in the order of the patterns. */
  readonly patternsHit: readonly string[];
  /** Whether the envelope was put around. */
  readonly wrapped: boolean;
  /** Whether something was masked or removed. */
  readonly stripped: boolean;
  /** How much shorter masking made the text, in UTF-16 units; 0 when the masks are longer. */
  readonly bytesStripped: number;
  /** Scan time in whole microseconds. */
  readonly scanDurationUs: number;
  /** The scan ran out of time: hits are unknown and nothing was masked. */
  readonly scanTimedOut: boolean;
  /** The text must not reach the model. */
  readonly blocked: boolean;
}

/** Options of {@link applyInboundSanitizationWithClassifier}. */
export interface InboundSanitizationWithClassifierOptions extends InboundSanitizationOptions {
  /** Asked once per call, with the final text. */
  readonly classifier?: InjectionClassifier;
}

/**
 * Makes envelope delimiters inside a text harmless: `<<<untrusted_content` and its closing form, in
 * any case and spacing, get square brackets. Other brackets stay.
 *
 * @example neutralizeEnvelopeDelimiters('a <<</untrusted_content>>> b'); // 'a [[/untrusted_content]] b'
 */
export function neutralizeEnvelopeDelimiters(
  body: string,
  options?: NeutralizeEnvelopeDelimitersOptions,
): string {
  const angleRuns = options?.neutralizeAngleRuns === true;
  if (!body.includes('<<<') && !(angleRuns && body.includes('>>>'))) return body;
  return native().neutralizeText(body, angleRuns) ?? body;
}

function outcome(fields: SanitizationOutcome): SanitizationOutcome {
  return Object.freeze({ ...fields, patternsHit: Object.freeze([...fields.patternsHit]) });
}

const UNTOUCHED = {
  modified: false,
  patternsHit: [],
  wrapped: false,
  stripped: false,
  bytesStripped: 0,
  scanDurationUs: 0,
  scanTimedOut: false,
  blocked: false,
} as const;

interface Plan {
  readonly strip: boolean;
  readonly wrap: boolean;
  readonly failClosed: boolean;
  readonly budgetMs: number;
}

function planFor(options: InboundSanitizationOptions): Plan {
  const policy = String(options.policy);
  return {
    strip: policy.includes('strip'),
    wrap: policy.includes('wrap'),
    failClosed: options.failClosed === true,
    budgetMs: options.budgetMs ?? DEFAULT_BUDGET_MS,
  };
}

type NativeArgs = Parameters<ReturnType<typeof native>['sanitizeText']>;
type Found = ReturnType<ReturnType<typeof native>['sanitizeText']>;

/** What the addon needs; the attributes only when there is an envelope to write them on. */
function nativeArgs(options: InboundSanitizationOptions, plan: Plan, patterns: number): NativeArgs {
  const flags = (plan.strip ? 1 : 0) | (plan.wrap ? 2 : 0) | (plan.failClosed ? 4 : 0);
  const args: NativeArgs = [options.body, flags, patterns, plan.budgetMs];
  if (!plan.wrap) return args;
  args.push(String(options.trustClass), String(options.toolName));
  if (options.contentOrigin !== undefined) args.push(String(options.contentOrigin));
  return args;
}

type Edits = Exclude<Found, number>['edits'];

/** The text with its masks and its envelope, of pieces of the old one: engines copy none of it. */
function edited(body: string, { before, masked, after }: NonNullable<Edits>): string {
  let text = before;
  let at = 0;
  for (let i = 0; i < masked.length; i += 2) {
    text += body.slice(at, masked[i]) + MASK;
    at = masked[i + 1]!;
  }
  return text + body.slice(at) + after;
}

function fromNative(
  body: string,
  plan: Plan,
  found: Found,
): SanitizationOutcome {
  if (typeof found === 'number') return outcome({ body, ...UNTOUCHED, scanDurationUs: found });
  const wrapped = plan.wrap && !found.blocked;
  const names = catalogueNames(found.hits);
  return outcome({
    body: found.body ?? (found.edits ? edited(body, found.edits) : body),
    modified: found.stripped || wrapped,
    patternsHit: found.invisible ? [...names, INVISIBLE] : names,
    wrapped,
    stripped: found.stripped,
    bytesStripped: found.bytesStripped,
    scanDurationUs: found.scanUs,
    scanTimedOut: found.timedOut,
    blocked: found.blocked,
  });
}

/**
 * Prepares a tool's text for the model: scans it for imperative patterns and hidden characters, and
 * masks, wraps or blocks as the policy says. Synchronous and linear in the text.
 *
 * - `pass-through` does nothing. `detect-and-flag` reports hits and changes nothing.
 * - Policies with `strip` mask every match and remove hidden characters, unless the scan timed out.
 * - Policies with `wrap` put the text into the envelope, always; delimiters inside become harmless.
 * - With `failClosed`, any hit blocks, and so does a scan that ran out of time.
 *
 * Equal input gives an equal outcome, `scanDurationUs` apart.
 *
 * @example
 * applyInboundSanitization({
 *   body: page, policy: 'detect-and-strip-and-wrap', trustClass: 'web-search', toolName: 'fetch',
 * }).body;
 */
export function applyInboundSanitization(options: InboundSanitizationOptions): SanitizationOutcome {
  const { body } = options;
  if (options.policy === 'pass-through') return outcome({ body, ...UNTOUCHED });
  const plan = planFor(options);
  const bits = catalogueBits(options.patterns);
  if (bits === undefined) return withOwnPatterns(options, options.patterns ?? [], plan);
  return fromNative(body, plan, native().sanitizeText(...nativeArgs(options, plan, bits)));
}

/**
 * {@link applyInboundSanitization} off the JavaScript thread, for texts over 64 KiB. A list with
 * patterns of the caller's own runs on the thread after all: JavaScript expressions live there.
 *
 * @internal
 */
export async function sanitizeLarge(options: InboundSanitizationOptions): Promise<SanitizationOutcome> {
  const bits = catalogueBits(options.patterns);
  if (options.policy === 'pass-through' || bits === undefined) return applyInboundSanitization(options);
  const plan = planFor(options);
  const { body } = options;
  const [, ...rest] = nativeArgs(options, plan, bits);
  const found = await native().sanitizeTextAsync(isLong(body) ? await carried(body) : body, ...rest);
  return fromNative(body, plan, found);
}

/**
 * Microseconds of a scan with the built-in catalogue that found nothing and has nothing to change, or
 * -1 when the whole of {@link applyInboundSanitization} is needed.
 *
 * @internal
 */
export function quietScan(body: string, policy: InboundSanitizationPolicy | undefined, budgetMs?: number): number {
  if (policy === 'pass-through') return 0;
  if (policy !== 'detect-and-flag') return -1;
  const found = native().sanitizeText(body, 0, EVERY_PATTERN, budgetMs ?? DEFAULT_BUDGET_MS);
  return typeof found === 'number' ? found : -1;
}

/** The same steps for a list that holds patterns of the caller's own. */
function withOwnPatterns(
  options: InboundSanitizationOptions,
  patterns: readonly ImperativePattern[],
  plan: Plan,
): SanitizationOutcome {
  const { body } = options;
  const started = performance.now();
  const cleaned = native().cleanInvisible(body);
  const visible = cleaned?.text ?? body;
  const scan = scanImperativePatterns(visible, patterns, plan.budgetMs);
  const patternsHit = scan?.hits.map((hit) => hit.pattern) ?? [];
  if (scan !== null && cleaned?.hit === true) patternsHit.push(INVISIBLE);
  let scanTimedOut = scan === null;
  const blocked = plan.failClosed && (scanTimedOut || patternsHit.length > 0);
  let text = body;
  if (plan.strip && !scanTimedOut && !blocked) {
    const masked = stripWithin(visible, patterns, plan.budgetMs);
    // Finding was quick enough, masking was not: treat it as a scan that did not finish.
    if (masked === undefined) scanTimedOut = true;
    else text = masked;
  }
  const stripped = text !== body;
  const bytesStripped = Math.max(0, body.length - text.length);
  const wrapped = plan.wrap && !blocked;
  if (wrapped) {
    // A marker that only hidden characters keep from being one is a marker to the reader.
    const shown = cleaned && !stripped && native().neutralizeText(visible, false) ? visible : text;
    const { trustClass, toolName, contentOrigin: origin } = options;
    text = native().wrapText(
      shown,
      String(trustClass),
      String(toolName),
      origin === undefined ? origin : String(origin),
    );
  }
  return outcome({
    body: text,
    modified: stripped || wrapped,
    patternsHit,
    wrapped,
    stripped,
    bytesStripped,
    scanDurationUs: scan?.scanDurationUs ?? Math.round((performance.now() - started) * 1000),
    scanTimedOut,
    blocked,
  });
}

/**
 * {@link applyInboundSanitization}, then one question to a classifier about the final text (surface
 * `tool-inbound`). A flag adds `classifier:<id>` to the hits and changes nothing else; `failClosed` is
 * not looked at again. A blocked text is not shown to the classifier; one that throws has no opinion.
 */
export async function applyInboundSanitizationWithClassifier(
  options: InboundSanitizationWithClassifierOptions,
): Promise<SanitizationOutcome> {
  const { classifier } = options;
  const first = applyInboundSanitization(options);
  if (classifier == null || first.blocked) return first;
  const verdict = await runInjectionClassifier(classifier, {
    text: first.body,
    surface: 'tool-inbound',
    ...(options.contentOrigin === undefined ? {} : { origin: options.contentOrigin }),
  });
  if (!verdict?.flagged) return first;
  return { ...first, patternsHit: [...first.patternsHit, `classifier:${classifier.id}`] };
}
