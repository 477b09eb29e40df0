import { isAbsolute, relative, sep } from 'node:path';
import type { Sensitivity, ToolTrustClass, TruncationStrategy } from '../core/index.js';
import { type ImperativePattern, catalogueBits } from '../inbound/catalogue.js';
import { isLong } from '../inbound/carry.js';
import { hasHits } from '../inbound/scan.js';
import { type Piece, boundAround } from './cut.js';
import { turn } from '../turns.js';
import { SPILL_HANDLE_SCHEME, type SpillWriteRequest, type SpillWriter } from './spill-types.js';
import { spillScanned } from './spill-writer.js';
import { type TokenCounter, countTokensHeuristic } from './tokens.js';

/** Shortens a text with a model. */
export interface ResultSummarizer {
  /** Named in the marker and in the outcome. */
  readonly model: string;
  /** Shortens a text to a number of tokens. */
  summarize(
    body: string,
    options: { readonly maxTokens: number; readonly signal?: AbortSignal },
  ): Promise<string>;
}

/** What bounding may use. Each is optional. */
export interface TruncateOptions {
  /** Default {@link countTokensHeuristic}. */
  readonly counter?: TokenCounter;
  /** Needed by `summarize`. */
  readonly summarizer?: ResultSummarizer;
  /** Needed by `spill-to-file`, as are `runId` and `toolCallId`. */
  readonly spill?: SpillWriter;
  /** The run, for `spill-to-file`. */
  readonly runId?: string;
  /** The call, for `spill-to-file`. */
  readonly toolCallId?: string;
  /** `secret` is never written to a file. */
  readonly toolSensitivityTier?: Sensitivity;
  /** How far the tool that produced it is trusted. */
  readonly producerTrustClass?: ToolTrustClass;
  /** Where the tool that produced it came from. */
  readonly producerSource?: unknown;
  /** What the scan before spilling looks for. Default: the built-in catalogue. */
  readonly imperativePatterns?: readonly ImperativePattern[];
  /** Milliseconds for that scan. Default 250. */
  readonly imperativeBudgetMs?: number;
  /** Aborts a summary. */
  readonly signal?: AbortSignal;
}

/** How a text was bounded. Frozen. */
export interface TruncationOutcome {
  /** Whether anything was left out. */
  readonly truncated: boolean;
  /** What is left, with a marker where something is missing. */
  readonly body: string;
  /** Tokens before. */
  readonly originalTokens: number;
  /** Tokens that were kept. */
  readonly keptTokens: number;
  /** Tokens that were left out. */
  readonly droppedTokens: number;
  /** The strategy that was really used. */
  readonly strategyApplied: TruncationStrategy;
  /** Where the whole text was written. */
  readonly artifactPath?: string;
  /** Size of that file. */
  readonly artifactBytes?: number;
  /** Names the stored text for `read_result`. */
  readonly resultHandle?: string;
  /** What the scan before spilling said; absent when it did not finish. */
  readonly spillImperativePatternsPresent?: boolean;
  /** The model that made the summary. */
  readonly summarizerModel?: string;
}

/** Arguments of {@link truncateBody}. */
export interface TruncateArgs {
  /** The text. */
  readonly body: string;
  /** 0 turns the cap off. */
  readonly maxTokens: number;
  /** How it is cut. */
  readonly strategy: TruncationStrategy;
  /** What the strategies need. */
  readonly options?: TruncateOptions;
}

/** A strategy that failed, so that `middle` was used. @internal */
export interface Degradation {
  readonly from: 'spill-to-file' | 'summarize';
  readonly error: unknown;
}

/** The outcome and, apart from it, what went wrong on the way. @internal */
export interface BoundResult {
  readonly outcome: TruncationOutcome;
  readonly degraded?: Degradation;
}

const DEFAULT_SCAN_BUDGET_MS = 250;

const NARROWER = 're-run narrower (date range/filter/limit) for the omitted part';

/** The line that stands for what was left out. */
function marker(
  strategy: TruncationStrategy,
  originalTokens: number,
  keptTokens: number,
  extra: string,
  hint: string,
): string {
  return `/* graphorin:result:truncated strategy=${strategy} originalTokens=${originalTokens} keptTokens=${keptTokens}${extra} ${hint} */`;
}

/**
 * The outcome for a text that needs no bounding, at once; undefined for one that does. Lets a call
 * with a short result pay no promise.
 *
 * @internal
 */
export function boundIsUntouched(args: TruncateArgs): TruncationOutcome | undefined {
  const counter = args.options?.counter ?? countTokensHeuristic;
  return untouched(args, counter.count(args.body));
}

function untouched(args: TruncateArgs, originalTokens: number): TruncationOutcome | undefined {
  if (args.maxTokens !== 0 && !(originalTokens <= args.maxTokens)) return undefined;
  return Object.freeze({
    truncated: false,
    body: args.body,
    originalTokens,
    keptTokens: originalTokens,
    droppedTokens: 0,
    strategyApplied: args.strategy,
  });
}

/** A text that is over its cap, with what every strategy needs. */
interface Job {
  readonly body: string;
  readonly cap: number;
  readonly options: TruncateOptions;
  readonly counter: TokenCounter;
  readonly originalTokens: number;
}

function finish(
  job: Job,
  strategyApplied: TruncationStrategy,
  body: string,
  extra: Partial<TruncationOutcome> = {},
): TruncationOutcome {
  const keptTokens = job.counter.count(body);
  return Object.freeze({
    truncated: true,
    body,
    originalTokens: job.originalTokens,
    keptTokens,
    droppedTokens: Math.max(0, job.originalTokens - keptTokens),
    strategyApplied,
    ...extra,
  });
}

/**
 * {@link truncateBody}, and why another strategy than the one asked for had to be used, for the audit.
 *
 * @internal
 */
export async function boundBody(args: TruncateArgs): Promise<BoundResult> {
  const { body, maxTokens: cap, options = {} } = args;
  const counter = options.counter ?? countTokensHeuristic;
  const originalTokens = counter.count(body);
  const whole = untouched(args, originalTokens);
  if (whole) return { outcome: whole };
  // Whoever made so long a text has held up the event loop already.
  if (isLong(body)) await turn();
  const job: Job = { body, cap, options, counter, originalTokens };
  const from = args.strategy;
  if (from === 'tail') return { outcome: cutWith(job, 'tail') };
  try {
    const outcome =
      from === 'spill-to-file'
        ? await spillToFile(job)
        : from === 'summarize'
          ? await summarize(job)
          : undefined;
    if (outcome) return { outcome };
  } catch (error) {
    const degraded: Degradation = { from: from === 'summarize' ? from : 'spill-to-file', error };
    return { outcome: cutWith(job, 'middle'), degraded };
  }
  return { outcome: cutWith(job, 'middle') };
}

function cutWith(job: Job, strategy: 'middle' | 'tail'): TruncationOutcome {
  const line = marker(strategy, job.originalTokens, job.cap, '', NARROWER);
  return finish(job, strategy, boundAround(strategy, job.body, line, job.cap, job.counter));
}

/** Undefined when something it needs is missing. */
async function spillToFile(job: Job): Promise<TruncationOutcome | undefined> {
  const { body, cap, options, originalTokens } = job;
  const { spill, runId, toolCallId, toolSensitivityTier } = options;
  if (spill == null || runId == null || toolCallId == null || toolSensitivityTier === 'secret') {
    return undefined;
  }
  const request: SpillWriteRequest = {
    runId,
    toolCallId,
    extension: /^\s*[{[]/.test(body) ? 'json' : 'txt',
    body,
    ...(toolSensitivityTier === undefined ? {} : { sensitivityTier: toolSensitivityTier }),
    ...(options.producerTrustClass === undefined ? {} : { producerTrustClass: options.producerTrustClass }),
    ...(options.producerSource === undefined ? {} : { producerSource: options.producerSource }),
  };
  const { path, bytes, flagged } = await scanAndWrite(spill, request, options);
  const handle = handleFor(spill.artifactRoot, path);
  const line = marker(
    'spill-to-file',
    originalTokens,
    cap,
    ` handle=${JSON.stringify(handle)}`,
    'full result via read_result(handle)',
  );
  return finish(job, 'spill-to-file', boundAround('head', body, line, cap, job.counter), {
    artifactPath: path,
    artifactBytes: bytes,
    resultHandle: handle,
    ...(flagged === undefined ? {} : { spillImperativePatternsPresent: flagged }),
  });
}

async function scanAndWrite(
  writer: SpillWriter,
  request: SpillWriteRequest,
  options: TruncateOptions,
): Promise<{ readonly path: string; readonly bytes: number; readonly flagged: boolean | undefined }> {
  const budgetMs = options.imperativeBudgetMs ?? DEFAULT_SCAN_BUDGET_MS;
  const patterns = catalogueBits(options.imperativePatterns);
  const once = patterns === undefined ? undefined : spillScanned(writer, request, { patterns, budgetMs });
  if (once !== undefined) return once;
  const flagged = await hasHits(request.body, options.imperativePatterns, budgetMs);
  const written = await writer.write({
    ...request,
    ...(flagged === undefined ? {} : { imperativePatternsPresent: flagged }),
  });
  return { path: written.path, bytes: written.bytes, flagged };
}

/** The handle for a path, from the two strings alone. Throws when the path is not below the root. */
function handleFor(root: string, path: string): string {
  const below = relative(root, path).split(sep).join('/');
  if (below === '' || below === '..' || below.startsWith('../') || isAbsolute(below)) {
    throw new Error('the spill writer returned a path outside its artifact root');
  }
  return SPILL_HANDLE_SCHEME + below;
}

/** Undefined without a summarizer. */
async function summarize(job: Job): Promise<TruncationOutcome | undefined> {
  const { body, cap, options, counter, originalTokens } = job;
  const { summarizer, signal } = options;
  if (summarizer == null) return undefined;
  let summary = await summarizer.summarize(body, {
    maxTokens: cap,
    ...(signal === undefined ? {} : { signal }),
  });
  if (typeof summary !== 'string') throw new TypeError('the summarizer returned no text');
  const model = String(summarizer.model);
  const line = (): string =>
    marker(
      'summarize',
      originalTokens,
      counter.count(summary),
      ` summarizerModel=${JSON.stringify(model)}`,
      're-run narrower for verbatim detail',
    );
  if (counter.count(summary) > cap) {
    // Too long for a summary: its head, as far as the cap allows beside the marker.
    const room: Piece = { side: 'head', tokens: Math.max(0, cap - counter.count(line()) - 1) };
    summary = room.tokens > 0 ? pieceOf(summary, room, counter) : '';
  }
  return finish(job, 'summarize', `${line()}\n${summary}`, { summarizerModel: model });
}

function pieceOf(text: string, piece: Piece, counter: TokenCounter): string {
  return boundAround('piece', text, '', piece.tokens, counter);
}

/**
 * Bounds a text to a number of tokens.
 *
 * A text within the cap, and any text under a cap of 0, comes back as it is. Otherwise one line that
 * starts with `graphorin:result:truncated` says what was left out, and
 *
 * - `middle` keeps head and tail, `tail` the end;
 * - `spill-to-file` keeps the head, stores the whole text with the writer and names its handle;
 * - `summarize` keeps what the summarizer says, cut when it exceeds the cap.
 *
 * `middle` is used instead when a strategy lacks what it needs, when a secret would be spilled, and
 * when the writer fails. No cut splits a surrogate pair. The result keeps to the cap
 * unless the marker alone exceeds it; a summary within the cap comes with its marker on top.
 *
 * @throws what the summarizer throws; the executor makes that good by itself.
 *
 * @example
 * const { body, resultHandle } = await truncateBody({
 *   body: text, maxTokens: 1000, strategy: 'spill-to-file', options: { spill, runId, toolCallId },
 * });
 */
export async function truncateBody(args: TruncateArgs): Promise<TruncationOutcome> {
  const { outcome, degraded } = await boundBody(args);
  if (degraded?.from === 'summarize') throw degraded.error;
  return outcome;
}
