import { nativeRealm } from '../binding.js';
import {
  type ContentChunk,
  type MessageContent,
  type TextContent,
  type ToolReturn,
  type ToolReturnTaint,
  isToolReturnEnvelope,
  isUnbrandedToolReturn,
} from '../core/index.js';
import { type Rendered, rendered } from './text.js';

/** A tool's return value, taken apart. Frozen. */
export interface ResultEnvelope<T = unknown> {
  /** The value as the tool returned it, or as its chunks add up. */
  readonly output: T | undefined;
  /** Its text form; never undefined. */
  readonly textBody: string;
  /** Parts for the model beside the text, such as pictures. */
  readonly contentParts: readonly MessageContent[];
  /** Flags that widen the provenance of the result. */
  readonly taint?: ToolReturnTaint;
}

const UNBRANDED = 'tool.result.envelope.unbranded-toolreturn.total';
const FORBIDDEN = new Set(['__proto__', 'prototype', 'constructor']);

/**
 * Takes a tool's return value apart.
 *
 * An envelope (see `toolReturn`) gives output, parts and taint; an envelope without the brand is
 * counted. Any other value is the output. Only when the tool returned `undefined` are its chunks put
 * together: text is joined, JSON deltas are applied to one state, images become parts; text wins over
 * the JSON state.
 *
 * @example toResultEnvelope({ raw: { rows: 2 } }).textBody; // '{"rows":2}'
 */
export function toResultEnvelope<T = unknown>(args: {
  readonly raw: T | ToolReturn<T> | undefined;
  readonly chunks?: readonly ContentChunk[];
}): ResultEnvelope<T> {
  return opened(args).envelope;
}

/** An envelope, and whether its text leaves nothing out. @internal */
export interface Opened<T> {
  readonly envelope: ResultEnvelope<T>;
  readonly whole: boolean;
}

/** {@link toResultEnvelope}, for whoever must know what the text stands for. @internal */
export function opened<T>(args: Parameters<typeof toResultEnvelope<T>>[0]): Opened<T> {
  const { raw, chunks } = args;
  if (raw === undefined && chunks !== undefined && chunks.length > 0) {
    return fromChunks(chunks) as Opened<T>;
  }
  if (isToolReturnEnvelope(raw)) {
    if (isUnbrandedToolReturn(raw)) nativeRealm().increment(UNBRANDED, 1);
    const { output, contentParts, taint } = raw as ToolReturn<T>;
    return envelope(output, rendered(output), contentParts ?? [], taint);
  }
  return envelope(raw as T | undefined, rendered(raw), [], undefined);
}

function envelope<T>(
  output: T | undefined,
  { text, whole }: Rendered,
  contentParts: readonly MessageContent[],
  taint: ToolReturnTaint | undefined,
): Opened<T> {
  const made = Object.freeze({
    output,
    textBody: text,
    contentParts: Object.freeze([...contentParts]),
    ...(taint === undefined ? {} : { taint }),
  });
  return { envelope: made, whole };
}

function fromChunks(chunks: readonly ContentChunk[]): Opened<unknown> {
  const texts: string[] = [];
  const parts: MessageContent[] = [];
  let state: unknown;
  for (const chunk of chunks) {
    if (chunk.kind === 'text') texts.push(chunk.text);
    else if (chunk.kind === 'json-delta') state = applyDelta(state, chunk.path, chunk.value);
    else if (chunk.kind === 'image') {
      parts.push({ type: 'image', image: chunk.data, mimeType: chunk.mediaType });
    }
  }
  const text = texts.join('');
  if (text !== '') return envelope(text, rendered(text), parts, undefined);
  const output = state === undefined && parts.length > 0 ? '' : state;
  return envelope(output, rendered(output), parts, undefined);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

function applyDelta(state: unknown, path: string, value: unknown): unknown {
  const segments = path.split('/').filter((segment) => segment !== '');
  const last = segments.pop();
  if (last === undefined) return value;
  if (FORBIDDEN.has(last) || segments.some((segment) => FORBIDDEN.has(segment))) return state;
  const root = isObject(state) ? state : {};
  let at = root;
  for (const segment of segments) {
    const child = at[segment];
    if (isObject(child)) at = child;
    else at = at[segment] = {} as Record<string, unknown>;
  }
  at[last] = value;
  return root;
}

/**
 * The text of an envelope, its text parts, and its other parts (reasoning included), each in order.
 * The text is `textBody` alone; that of the text parts is not merged in. Everything is frozen.
 */
export function splitTextAndContentParts(envelope: ResultEnvelope): {
  readonly text: string;
  readonly nonText: readonly MessageContent[];
  readonly textParts: readonly TextContent[];
} {
  const textParts: TextContent[] = [];
  const nonText: MessageContent[] = [];
  for (const part of envelope.contentParts) {
    if (part.type === 'text') textParts.push(part);
    else nonText.push(part);
  }
  return Object.freeze({
    text: envelope.textBody,
    nonText: Object.freeze(nonText),
    textParts: Object.freeze(textParts),
  });
}
