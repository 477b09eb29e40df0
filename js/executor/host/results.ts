/**
 * The host's side of results: envelope, output check, bounding, sanitising, assembly.
 *
 * @internal
 */
import { nativeRealm } from '../../binding.js';
import { defaultInboundSanitization } from '../../builder/index.js';
import { isToolReturnEnvelope } from '../../core/index.js';
import type { MessageContent, Sensitivity, ToolSource, ToolTrustClass } from '../../core/index.js';
import { applyInboundSanitization, quietScan, sanitizeLarge } from '../../inbound/sanitize.js';
import { opened, splitTextAndContentParts, toResultEnvelope } from '../../result/envelope.js';
import { countTokensHeuristic } from '../../result/tokens.js';
import type { TokenCounter } from '../../result/tokens.js';
import { boundBody } from '../../result/truncate.js';
import type { BoundResult } from '../../result/truncate.js';
import { parseWith } from '../args.js';
import type { Parsed } from '../args.js';
import { INBOUND_POLICIES, SENSITIVITIES, TRUNCATIONS, TRUST_CLASSES } from '../facts.js';
import { DETAILS, NO_PARTS, registers } from '../frame.js';
import type { Frame, ProducerRecord } from '../frame.js';
import { awaited, guarded, isThenable, threw } from '../settle.js';
import { renderThrown } from '../thrown.js';
import { unawaited } from './unawaited.js';
import { TOO_DEEP, leavesHolesOut, rendered } from '../../result/text.js';
import type { StreamingAggregator } from '../../streaming/index.js';
import type { MemorySnapshot } from '../types.js';

/** Texts longer than this are sanitised off the JavaScript thread. */
const LARGE_UNITS = 65_536;
/** Texts up to this long go along with the event that the tool returned. */
const SHORT_UNITS = 2_048;
/** In what {@link unpackAhead} answers: the output schema has been asked, and the output fits. */
const FITS = 2048;

/** Unpacks the envelope, or assembles what was streamed, and finds out whose output it is. */
export function unpack(frame: Frame): number {
  const bits = unpacked(frame);
  registers[1] = frame.body.length;
  return bits;
}

/** {@link unpack} and {@link outputFits} in one, before the native side asks. */
export function unpackAhead(frame: Frame): number {
  const bits = unpacked(frame);
  if (bits < 0 || !frame.tool.outputSchema || frame.output === undefined) return bits;
  try {
    const answer = checked(frame);
    if (!isThenable(answer) && answer.success) return bits | FITS;
    frame.checked = () => answer;
  } catch (error) {
    frame.checked = () => {
      throw error;
    };
  }
  return bits;
}

/** What the output schema says. It is asked once: an answer that came ahead is given again. */
function checked(frame: Frame): Parsed | Promise<Parsed> {
  const ahead = frame.checked;
  frame.checked = undefined;
  return ahead === undefined ? parseWith(frame.tool.outputSchema, frame.output) : ahead();
}

/** The body, when the native side can scan it by itself: it is short, and nobody else has a say in it. */
export function scannable(frame: Frame): string | undefined {
  const { imperativePatterns, imperativeBudgetMs } = frame.state.options;
  if (imperativePatterns || imperativeBudgetMs !== undefined || frame.body.length > SHORT_UNITS) return undefined;
  return frame.body;
}

function unpacked(frame: Frame): number {
  try {
    const { raw } = frame;
    if (typeof raw === 'string') {
      // The usual result is its own text, and has neither parts nor taint.
      frame.output = raw;
      frame.text = raw;
    } else {
      unpackEnvelope(frame, raw);
    }
    frame.body = frame.text;
    const bits =
      (raw === undefined ? 0 : 1) |
      (frame.output === undefined ? 2 : 0) |
      (typeof frame.output === 'string' ? 4 : 0) |
      (frame.nonText.length > 0 ? 8 : 0) |
      (producer(frame) << 4);
    return bits;
  } catch (error) {
    return threw(frame, 'output', error);
  }
}

/** What the text form leaves out was neither counted nor scanned: the model may have the text only. */
function keepText(frame: Frame, text: string, whole: boolean): void {
  frame.text = text;
  if (whole) return;
  if (isUntrusted(frame.tool.__trustClass) && typeof frame.output === 'object' && text.includes(TOO_DEEP)) {
    frame.output = text;
  }
  // Whoever writes the record as JSON would be held up as we would have been.
  if (leavesHolesOut(frame.output, text)) frame.output = text;
}

function unpackEnvelope(frame: Frame, raw: unknown): void {
  if (raw !== undefined && !isToolReturnEnvelope(raw)) {
    frame.output = raw;
    const { text, whole } = rendered(raw);
    keepText(frame, text, whole);
    return;
  }
  const chunks = raw === undefined ? (frame.scope?.channel?.snapshot().chunks ?? []) : [];
  const { envelope, whole } = opened({ raw, chunks });
  frame.output = envelope.output;
  frame.taint = envelope.taint;
  keepText(frame, envelope.textBody, whole);
  if (envelope.contentParts.length === 0) return;
  const split = splitTextAndContentParts(envelope);
  frame.textParts = split.textParts;
  frame.nonText = isUntrusted(frame.tool.__trustClass) ? withoutWords(split.nonText) : split.nonText;
}

const WORDLESS: ReadonlySet<string> = new Set(['image', 'audio', 'file']);

/**
 * The parts that carry no words. Others are neither bounded nor sanitised, and any JSON a server sends
 * can have the shape of an envelope.
 */
function withoutWords(parts: readonly MessageContent[]): readonly MessageContent[] {
  const kept = parts.filter((part) => WORDLESS.has(part.type));
  if (kept.length < parts.length) nativeRealm().increment('tool.result.contentparts.dropped.total', parts.length - kept.length);
  return kept;
}

/** Checks the output. */
export function outputFits(frame: Frame, epoch: number): number {
  return awaited(
    frame,
    epoch,
    'outputSchema',
    () => checked(frame),
    (parsed) => {
      if (parsed.success) return 1;
      frame.schemaMessage = String(parsed.error.message);
      return 0;
    },
  );
}

function isUntrusted(trustClass: ToolTrustClass): boolean {
  return defaultInboundSanitization(trustClass) === 'detect-and-strip-and-wrap';
}

/** What an output says of its producer. A class nobody knows is the least trusted one. */
function reportedProducer(frame: Frame): ProducerRecord | undefined {
  const output = frame.output as Record<string, unknown> | null;
  if (typeof output !== 'object' || output === null) return undefined;
  const reported = output['producerTrustClass'];
  if (typeof reported !== 'string') return undefined;
  const known = (TRUST_CLASSES as ReadonlyArray<string>).includes(reported);
  const trustClass = known ? (reported as ToolTrustClass) : 'channel-inbound';
  if (!isUntrusted(trustClass)) return undefined;
  const source = output['producerSource'] as ToolSource | undefined;
  const sensitivity = output['producerSensitivity'];
  return {
    trustClass,
    source: typeof source === 'object' && source !== null && typeof source.kind === 'string' ? source : frame.tool.__source,
    ...(typeof sensitivity === 'string' ? { sensitivity: sensitivity as Sensitivity } : {}),
    ...(output['producerImperativeFlagged'] === true ? { imperativeFlagged: true as const } : {}),
  };
}

/** The handle a call asks for, when it is such a call. */
function handleOf(frame: Frame): unknown {
  const args = frame.call.args as { handle?: unknown } | null | undefined;
  try {
    return typeof args === 'object' && args !== null ? args.handle : undefined;
  } catch {
    // Arguments that cannot be read now are no fault of the result.
    return undefined;
  }
}

/** Whose stored output this is, when untrusted: 0, or class, sensitivity and flag packed. */
function producer(frame: Frame): number {
  const handle = handleOf(frame);
  const remembered = typeof handle === 'string' ? frame.state.producers.get(handle) : undefined;
  const found =
    remembered && isUntrusted(remembered.trustClass) ? remembered : reportedProducer(frame);
  frame.producer = found;
  if (!found) return 0;
  const sensitivity = found.sensitivity === undefined ? 0 : SENSITIVITIES.indexOf(found.sensitivity) + 1;
  return (TRUST_CLASSES.indexOf(found.trustClass) + 1) | (sensitivity << 3) | (found.imperativeFlagged ? 64 : 0);
}

const sourceOf = (frame: Frame): ToolSource => frame.producer?.source ?? frame.tool.__source;

/** Counts tokens; a counter that throws gives way to the built-in estimate. */
function countTokens(frame: Frame, body: string): number {
  const counter = frame.state.options.tokenCounter;
  if (!counter) return countTokensHeuristic.count(body);
  try {
    const tokens: unknown = counter.count(body);
    if (typeof tokens === 'number' && tokens >= 0) return tokens;
    // A count that has to be waited for is none, and its rejection is nobody's.
    unawaited(frame, 'tokenCounter.count', tokens);
    throw new TypeError(`the token counter answered ${String(tokens)}`);
  } catch (error) {
    return counterThrew(frame, error);
  }
}

function counterThrew(frame: Frame, error: unknown): number {
  threw(frame, 'tokenCounter.count', error);
  return Number.NaN;
}

/**
 * Bounds the body. The count of an untouched body is the answer itself; anything else leaves details.
 */
export function bound(frame: Frame, epoch: number, strategyIndex: number, maxTokens: number, owner: number): number {
  const strategy = TRUNCATIONS[strategyIndex - 1] ?? 'middle';
  const trustClass = TRUST_CLASSES[(owner & 7) - 1] ?? frame.tool.__trustClass;
  const sensitivity = SENSITIVITIES[(owner >> 3) - 1];
  const { body } = frame;
  const tokens = countTokens(frame, body);
  let counterFailed = Number.isNaN(tokens);
  if (!counterFailed && (maxTokens === 0 || tokens <= maxTokens)) return tokens;
  const { options } = frame.state;
  const { runId } = frame.runContext;
  const callId = frame.call.toolCallId;
  const { spillNames } = frame.state;
  const toolCallId = spillNames.take(runId, callId);
  return awaited(
    frame,
    epoch,
    'truncation',
    async () => {
      const shared = {
        spill: frame.state.spill,
        runId,
        toolCallId,
        ...(sensitivity === undefined ? {} : { toolSensitivityTier: sensitivity }),
        producerTrustClass: trustClass,
        producerSource: sourceOf(frame),
        ...(options.summarizer ? { summarizer: options.summarizer } : {}),
        ...(options.imperativePatterns ? { imperativePatterns: options.imperativePatterns } : {}),
        ...(options.imperativeBudgetMs === undefined ? {} : { imperativeBudgetMs: options.imperativeBudgetMs }),
        ...(frame.runContext.signal ? { signal: frame.runContext.signal } : {}),
      };
      const boundWith = (counter: TokenCounter): Promise<BoundResult> =>
        boundBody({ body, maxTokens, strategy, options: { ...shared, counter } });
      const { tokenCounter } = options;
      if (counterFailed || !tokenCounter) return boundWith(countTokensHeuristic);
      try {
        return await boundWith(tokenCounter);
      } catch (error) {
        // Whatever else fails is made good in there, so it was the counter, on a later text.
        counterFailed = Number.isNaN(counterThrew(frame, error));
        return boundWith(countTokensHeuristic);
      }
    },
    (result) => {
      if (result.outcome.resultHandle === undefined) spillNames.free(runId, callId, toolCallId);
      return keepBound(frame, result, counterFailed);
    },
  );
}

const DEGRADED = { 'spill-to-file': 'spill.write', summarize: 'summarizer.summarize' } as const;

function keepBound(frame: Frame, result: BoundResult, counterFailed: boolean): number {
  const { outcome, degraded } = result;
  if (degraded) {
    frame.thrown = degraded.error;
    frame.callback = DEGRADED[degraded.from];
  }
  frame.bound = {
    truncated: outcome.truncated,
    strategyIndex: TRUNCATIONS.indexOf(outcome.strategyApplied) + 1,
    originalTokens: outcome.originalTokens,
    keptTokens: outcome.keptTokens,
    droppedTokens: outcome.droppedTokens,
    unitsDropped: Math.max(0, frame.body.length - outcome.body.length),
    summarizerModel: outcome.summarizerModel,
    artifactPath: outcome.artifactPath,
    artifactBytes: outcome.artifactBytes,
    degraded: counterFailed || degraded !== undefined,
  };
  frame.body = outcome.body;
  frame.handle = outcome.resultHandle;
  frame.spillFlagged = outcome.spillImperativePatternsPresent === true;
  return DETAILS;
}

/** Sanitises the bounded body. The time of a quiet scan is the answer itself. */
export function sanitise(frame: Frame, epoch: number, policy: number, shown: number, failClosed: number): number {
  const { options } = frame.state;
  if (!options.imperativePatterns && frame.body.length <= LARGE_UNITS) {
    const quiet = quietScan(frame.body, INBOUND_POLICIES[policy - 1], options.imperativeBudgetMs);
    if (quiet >= 0) return quiet;
  }
  return awaited(
    frame,
    epoch,
    'sanitisation',
    () => {
      const request = {
        body: frame.body,
        policy: INBOUND_POLICIES[policy - 1] ?? 'pass-through',
        trustClass: TRUST_CLASSES[shown - 1] ?? frame.tool.__trustClass,
        toolName: frame.tool.name,
        failClosed: failClosed === 1,
        ...(options.imperativePatterns ? { patterns: options.imperativePatterns } : {}),
        ...(options.imperativeBudgetMs === undefined ? {} : { budgetMs: options.imperativeBudgetMs }),
      };
      return request.body.length > LARGE_UNITS ? sanitizeLarge(request) : applyInboundSanitization(request);
    },
    (outcome) => {
      const { patternsHit, wrapped, stripped, blocked, scanDurationUs } = outcome;
      if (patternsHit.length === 0 && !wrapped && !stripped && !blocked) return scanDurationUs;
      frame.body = outcome.body;
      frame.patterns = patternsHit;
      frame.sanitised = { wrapped, stripped, blocked, scanUs: scanDurationUs };
      return DETAILS;
    },
  );
}

/** Builds the outcome, and remembers the producer of an artifact. */
export function assemble(frame: Frame, durationMs: number, shown: number): number {
  const output = frame.body === frame.text ? frame.output : frame.body;
  const contentParts: MessageContent[] = frame.nonText.length === 0 ? [] : [...frame.nonText];
  for (const part of frame.textParts) contentParts.push({ ...part, text: frame.body });
  const result = { toolCallId: frame.call.toolCallId, toolName: frame.tool.name, output, contentParts, durationMs };
  const uri = frame.handle;
  if (uri === undefined) {
    frame.outcome = result;
    return 0;
  }
  const producerTrustClass = TRUST_CLASSES[shown - 1] ?? frame.tool.__trustClass;
  const bytes = frame.bound?.artifactBytes;
  frame.outcome = {
    ...result,
    resultHandle: {
      uri,
      kind: 'spill-file' as const,
      preview: frame.body,
      producerTrustClass,
      ...(bytes === undefined ? {} : { bytes }),
    },
  };
  remember(frame, uri, producerTrustClass);
  return 0;
}

function remember(frame: Frame, uri: string, trustClass: ToolTrustClass): void {
  const { producers, producerCap } = frame.state;
  while (producerCap > 0 && producers.size >= producerCap) {
    producers.delete(producers.keys().next().value as string);
  }
  const sensitivity = frame.producer?.sensitivity ?? frame.tool.sensitivity;
  producers.set(uri, {
    trustClass,
    source: sourceOf(frame),
    ...(sensitivity === undefined ? {} : { sensitivity }),
    ...(frame.spillFlagged ? { imperativeFlagged: true as const } : {}),
  });
}

/** Hands the result to the data-flow guard. */
export function recordFlow(frame: Frame, trust: number): number {
  return guarded(frame, 'dataFlowGuard.record', () => {
    const sensitivity = frame.producer?.sensitivity ?? frame.tool.sensitivity;
    const returned: unknown = frame.state.options.dataFlowGuard!.record({
      toolName: frame.tool.name,
      trustClass: TRUST_CLASSES[trust - 1] ?? frame.tool.__trustClass,
      ...(sensitivity === undefined ? {} : { sensitivity }),
      source: sourceOf(frame),
      outputText: frame.body,
      ...(frame.taint === undefined ? {} : { taintOverride: frame.taint }),
      runContext: frame.runContext,
    });
    unawaited(frame, 'dataFlowGuard.record', returned);
    return 0;
  });
}

/**
 * The regions that changed although the guard says that all is well: the audit-only tier shows a
 * change in its digest only.
 */
function drift(before: MemorySnapshot | undefined, after: MemorySnapshot | undefined): string[] {
  const hashes = new Map(after?.digest?.map(({ region, hash }) => [region, hash]));
  const changed = (before?.digest ?? []).filter(({ region, hash }) => hashes.has(region) && hashes.get(region) !== hash);
  return changed.map(({ region }) => region);
}

/** Verifies memory: bit 0 that it held, bit 1 that the guard named regions. */
export function verify(frame: Frame, epoch: number): number {
  const { guard, before } = frame;
  const reader = frame.state.options.memoryRegionReader;
  if (!guard || !reader) return 1;
  return awaited(
    frame,
    epoch,
    'memoryGuard.verify',
    () => guard.verify(before as MemorySnapshot, reader),
    (result) => {
      frame.verifyUs = Number(result.verifyDurationUs) || 0;
      frame.regions = result.ok ? drift(before, result.snapshot) : [...(result.mismatched ?? [])];
      return (result.ok ? 1 : 0) | (frame.regions.length > 0 ? 2 : 0);
    },
  );
}

/** A kept text by the native side's number for it. */
export function textOf(frame: Frame, which: number): string | undefined {
  switch (which) {
    case 0:
      return frame.call.toolName;
    case 1:
      return renderThrown(frame.thrown);
    case 2:
      return frame.schemaMessage;
    case 3:
      return frame.reason === undefined || frame.reason === null ? undefined : String(frame.reason);
    case 4:
      return frame.flow;
    case 5:
      return frame.callback;
    case 6:
      return frame.patterns.join(', ');
    case 7:
      return frame.bound?.summarizerModel;
    case 8:
      return frame.bound?.artifactPath;
    case 10:
      return frame.joined?.kind;
    case 11:
      return frame.joined?.message;
    case 12:
      return frame.joined?.hint;
    default:
      return [...new Set(frame.nonText.map((part) => part.type))].join('\n');
  }
}

const NOTHING_STREAMED = { chunks: NO_PARTS, chunkCount: 0, progressEventCount: 0, totalBytes: 0 } as const;

function streamed(frame: Frame): Pick<StreamingAggregator, keyof typeof NOTHING_STREAMED> {
  return frame.scope?.channel?.snapshot() ?? NOTHING_STREAMED;
}

/** A kept number by the native side's number for it. */
export function numberOf(frame: Frame, which: number): number {
  const { bound: cut, sanitised } = frame;
  const flags = (...bits: (boolean | undefined)[]): number =>
    bits.reduce((sum, bit, index) => sum | (bit ? 1 << index : 0), 0);
  switch (which) {
    case 0:
      return streamed(frame).chunkCount;
    case 1:
      return streamed(frame).progressEventCount;
    case 2:
      return streamed(frame).totalBytes;
    case 3:
      return toResultEnvelope({ raw: undefined, chunks: streamed(frame).chunks }).output === undefined ? 0 : 1;
    case 4:
      return frame.verifyUs;
    case 5:
      return flags(cut?.truncated, cut?.summarizerModel !== undefined, cut?.degraded);
    case 6:
      return cut!.strategyIndex;
    case 7:
      return cut!.originalTokens;
    case 8:
      return cut!.keptTokens;
    case 9:
      return cut!.droppedTokens;
    case 10:
      return cut?.artifactPath === undefined ? -1 : (cut.artifactBytes ?? 0);
    case 11:
      return cut!.unitsDropped;
    case 12:
      return flags(sanitised?.wrapped, sanitised?.stripped, sanitised?.blocked);
    case 13:
      return frame.patterns.length;
    case 14:
      return sanitised?.scanUs ?? 0;
    default:
      return frame.cancelled ? 1 : 0;
  }
}
