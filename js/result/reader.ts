import { native } from '../binding.js';
import type { Sensitivity, ToolSource, ToolTrustClass } from '../core/index.js';

/** Which part of an artifact to read. Lines win over bytes. */
export interface ResultReadRange {
  /** First byte, from 0. Default 0. */
  readonly offset?: number;
  /** Number of bytes. Default: to the end. */
  readonly length?: number;
  /** First line, from 1. Default 1. */
  readonly startLine?: number;
  /** Last line, inclusive. Default: the last. */
  readonly endLine?: number;
  /** The most bytes a page may have. Default: the reader's. */
  readonly maxBytes?: number;
}

/** One page of an artifact. Frozen. */
export interface ResultReadOutcome {
  /** The text of the page. */
  readonly content: string;
  /** Bytes of the page; `offset + bytes` is where the next byte page starts. */
  readonly bytes: number;
  /** Bytes of the artifact. */
  readonly totalBytes: number;
  /** Nothing follows this page. */
  readonly eof: boolean;
  /** The class of the tool that produced the artifact, as its sidecar says. */
  readonly producerTrustClass?: ToolTrustClass;
  /** Where the tool that produced the result came from. */
  readonly producerSource?: ToolSource;
  /** How confidential the tool that produced the result is. */
  readonly producerSensitivity?: Sensitivity;
  /** The artifact, not necessarily this page, holds imperative patterns. */
  readonly producerImperativeFlagged?: boolean;
}

/** Reads results by their handles. Any object of this shape will do. */
export interface ResultReader {
  /** Rejects when there is no such result; then another reader may be tried. */
  read(uri: string, range?: ResultReadRange): Promise<ResultReadOutcome>;
}

/** Options of {@link createFileResultReader}. */
export interface FileResultReaderOptions {
  /** The root of the spill writer. May be a link. */
  readonly artifactRoot: string;
  /** Bytes of a page when the range names none. Default 65536. */
  readonly maxBytes?: number;
}

const DEFAULT_MAX_BYTES = 65_536;

/**
 * A reader for what the default spill writer wrote.
 *
 * Handles have exactly two segments after the scheme; anything that climbs, names a sidecar or has
 * another scheme is rejected. Links are not followed below the root. Pages end between two characters
 * (a page too small for a single character holds that character), and memory does not grow with the
 * artifact. Messages show no path of the host.
 *
 * @example
 * const reader = createFileResultReader({ artifactRoot: writer.artifactRoot });
 * const page = await reader.read('graphorin-spill:run-1/call-1.json', { offset: 0, length: 4096 });
 */
export function createFileResultReader(options: FileResultReaderOptions): ResultReader {
  const root = options.artifactRoot;
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  return {
    async read(uri, range = {}) {
      const { offset, length, startLine, endLine } = range;
      const asked = Object.fromEntries(
        Object.entries({ offset, length, startLine, endLine }).filter(([, value]) => value !== undefined),
      );
      const cap = Math.max(0, range.maxBytes ?? maxBytes);
      let page;
      try {
        page = await native().readSpilled({ root, uri: String(uri), cap, ...asked });
      } catch (error) {
        throw new Error(error instanceof Error ? error.message : String(error));
      }
      return Object.freeze({
        content: page.content,
        bytes: page.bytes,
        totalBytes: page.totalBytes,
        eof: page.eof,
        ...(page.sidecar === undefined ? {} : parseSidecar(page.sidecar)),
      });
    },
  };
}

/** What a sidecar says of its artifact; nothing when it is corrupt. @internal */
export function parseSidecar(
  text: string,
): Pick<
  ResultReadOutcome,
  'producerTrustClass' | 'producerSource' | 'producerSensitivity' | 'producerImperativeFlagged'
> {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    return {};
  }
  if (typeof said !== 'object' || said === null) return {};
  const { producerTrustClass, source, sensitivity, imperativePatternsPresent } = said as Record<string, unknown>;
  return {
    ...(typeof producerTrustClass === 'string'
      ? { producerTrustClass: producerTrustClass as ToolTrustClass }
      : {}),
    ...(isSource(source) ? { producerSource: source } : {}),
    ...(typeof sensitivity === 'string' ? { producerSensitivity: sensitivity as Sensitivity } : {}),
    ...(imperativePatternsPresent === true ? { producerImperativeFlagged: true } : {}),
  };
}

function isSource(value: unknown): value is ToolSource {
  return typeof value === 'object' && value !== null && typeof (value as { kind?: unknown }).kind === 'string';
}
