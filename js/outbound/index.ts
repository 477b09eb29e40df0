/**
 * Telling tool protocol from prose in what a model writes: the commentary patterns, the splitter for
 * text that is wrapped already, and a digest for audit rows.
 *
 * @packageDocumentation
 */
import { native } from '../binding.js';
import { builtins } from '../builtins.js';

/** Opens a wrapped commentary. */
export const COMMENTARY_WRAP_OPEN = '<<<commentary>>>';
/** Closes a wrapped commentary. */
export const COMMENTARY_WRAP_CLOSE = '<<</commentary>>>';

/** What a consumer does with commentary it finds. */
export type OutboundCommentaryPolicy = 'wrap' | 'strip' | 'pass-through';

/** The ids of the patterns. */
export type OutboundCommentaryReason =
  | 'tool.call.start-payload-signature'
  | 'tool.call.delta-payload-signature'
  | 'tool.call.end-payload-signature'
  | 'tool.execute.end-payload-signature'
  | 'agent.fanout-event-signature'
  | 'context.compacted-event-signature'
  | 'agent.model.fellback-event-signature';

/** How an internal event looks when a model repeats it. */
export interface OutboundCommentaryPattern {
  /** What such a passage is. */
  readonly reason: OutboundCommentaryReason;
  /** Global and case-sensitive. Use a copy from {@link freshRegex}: `lastIndex` is shared otherwise. */
  readonly regex: RegExp;
  /** The same for people. */
  readonly description: string;
}

function pattern(reason: OutboundCommentaryReason, regex: RegExp, description: string): OutboundCommentaryPattern {
  return Object.freeze({ reason, regex, description });
}

/**
 * The seven event signatures. Frozen. Each begins at a `{` whose first key is `type` and ends at the
 * first `}` after what it requires; objects with nested objects therefore match up to an inner `}`.
 */
export const OUTBOUND_COMMENTARY_PATTERNS: readonly OutboundCommentaryPattern[] = Object.freeze([
  pattern(
    'tool.call.start-payload-signature',
    /\{\s*"type"\s*:\s*"tool\.call\.start"[\s\S]*?"toolName"\s*:\s*"[^"]+"[\s\S]*?\}/g,
    'A tool call that begins, with its tool name.',
  ),
  pattern(
    'tool.call.delta-payload-signature',
    /\{\s*"type"\s*:\s*"tool\.call\.delta"[\s\S]*?"argsDelta"[\s\S]*?\}/g,
    'A piece of the arguments of a tool call.',
  ),
  pattern(
    'tool.call.end-payload-signature',
    /\{\s*"type"\s*:\s*"tool\.call\.end"[\s\S]*?"finalArgs"[\s\S]*?\}/g,
    'A tool call with its final arguments.',
  ),
  pattern(
    'tool.execute.end-payload-signature',
    /\{\s*"type"\s*:\s*"tool\.execute\.end"[\s\S]*?"result"\s*:[\s\S]*?\}/g,
    'A finished tool with its result.',
  ),
  pattern(
    'agent.fanout-event-signature',
    /\{\s*"type"\s*:\s*"agent\.fanout\.(?:spawned|merged)"[\s\S]*?\}/g,
    'Sub-agents that were started or joined.',
  ),
  pattern(
    'context.compacted-event-signature',
    /\{\s*"type"\s*:\s*"context\.compacted"[\s\S]*?"originalTokens"[\s\S]*?\}/g,
    'A context that was compacted.',
  ),
  pattern(
    'agent.model.fellback-event-signature',
    /\{\s*"type"\s*:\s*"agent\.model\.fellback"[\s\S]*?"fromModel"[\s\S]*?\}/g,
    'A model that was replaced by its fallback.',
  ),
]);

/** A copy of an expression with the same source and flags and `lastIndex` 0. */
export function freshRegex(re: RegExp): RegExp {
  return new RegExp(re.source, re.flags);
}

/** A piece of text: outside an envelope, or one with its delimiters. */
export interface WrapSegment {
  /** Whether it was wrapped. */
  readonly kind: 'plain' | 'wrapped';
  /** The text as it goes out. */
  readonly text: string;
}

/**
 * Splits a text at its envelopes. The pieces joined give the text. An opener without a closer starts a
 * plain piece that reaches to the end; a nested opener ends with the first closer; a closer alone is
 * plain; an empty text has no pieces.
 *
 * @example splitByWrapEnvelope('a [x] b', '[', ']');
 * // [{ kind: 'plain', text: 'a ' }, { kind: 'wrapped', text: '[x]' }, { kind: 'plain', text: ' b' }]
 */
export function splitByWrapEnvelope(text: string, open: string, close: string): WrapSegment[] {
  const places = native().splitWrapped(text, open, close);
  const segments: WrapSegment[] = [];
  for (let at = 0, from = 0; at < places.length; at += 2) {
    const to = places[at]!;
    segments.push({ kind: places[at + 1] === 1 ? 'wrapped' : 'plain', text: text.slice(from, to) });
    from = to;
  }
  return segments;
}

/** The SHA-256 of a text's UTF-8, as 64 hexadecimal digits. */
export function sha256Hex(text: string): string {
  return builtins.crypto().createHash('sha256').update(text, 'utf8').digest('hex');
}
