import { native, nativeRealm } from '../binding.js';
import { tool } from '../builder/index.js';
import type { Tool, ToolSource } from '../core/index.js';
import { once } from '../once.js';
import { kinded, optional, plainObject, primitive, text, whole } from '../schema/plain.js';
import { type ResultReadOutcome, type ResultReader, SPILL_HANDLE_SCHEME } from '../result/index.js';

/** What the model passes to `read_result`. */
export interface ReadResultInput {
  /** The handle an earlier result named. */
  readonly handle: string;
  /** First byte, from 0. */
  readonly offset?: number;
  /** Number of bytes. */
  readonly length?: number;
  /** First line, from 1. Lines win over bytes. */
  readonly startLine?: number;
  /** Last line, inclusive. */
  readonly endLine?: number;
  /** The most bytes to return, 1 to 1048576. */
  readonly maxBytes?: number;
}

/** One page of a stored result. */
export interface ReadResultOutput {
  /** The text of the page. */
  readonly content: string;
  /** Size of the page in bytes. */
  readonly bytes: number;
  /** Size of the whole result in bytes. */
  readonly totalBytes: number;
  /** Nothing follows. */
  readonly eof: boolean;
  /** How far the tool that produced the result is trusted. */
  readonly producerTrustClass?: string;
  /** Where the tool that produced the result came from. */
  readonly producerSource?: ToolSource;
  /** How confidential the tool that produced the result is. */
  readonly producerSensitivity?: string;
}

/** Options of {@link createReadResultTool}. */
export interface ReadResultToolOptions {
  /** Where results are read from. */
  readonly reader: ResultReader;
  /** Bytes of a page when the model names no `maxBytes`. Default 65536. */
  readonly defaultMaxBytes?: number;
  /** Let a run read what another run spilled. Default false. */
  readonly allowCrossRun?: boolean;
}

const DEFAULT_MAX_BYTES = 65_536;
const LARGEST_PAGE = 1_048_576;
/** The longest JSON makes of one byte of text: a control character becomes `\u00XX`. */
const JSON_UNITS_PER_BYTE = 6;
/** Room for the page's other fields, the envelope and markers in it. */
const WRAPPING_UNITS = 16_384;
const UNITS_PER_TOKEN = 4;

const READS = 'tool.result.read.executed.total';
const DENIED = 'tool.result.read.cross-run-denied.total';

const DESCRIPTION = [
  'Read a stored tool result page by page. Pass the `handle` that an earlier, shortened result named.',
  'Narrow the page by bytes (`offset`, `length`) or by lines (`startLine`, `endLine`, counted from 1,',
  'both inclusive). At most `maxBytes` bytes come back, 64 KiB by default. `totalBytes` is the size of',
  'the whole result; while `eof` is false there is more: continue at `offset` + `bytes`.',
].join(' ');

// Made at first use: every app imports this file, and most never make the tool.
const inputSchema = once(() =>
  plainObject<ReadResultInput>({
    handle: text('Handle from an earlier result.', 1, 2048),
    offset: optional(whole('First byte, from 0.', 0)),
    length: optional(whole('Number of bytes.', 1)),
    startLine: optional(whole('First line, from 1.', 1)),
    endLine: optional(whole('Last line, inclusive.', 1)),
    maxBytes: optional(whole('The most bytes to return.', 1, LARGEST_PAGE)),
  }),
);

const outputSchema = once(() =>
  plainObject<ReadResultOutput>({
    content: primitive('string'),
    bytes: primitive('number'),
    totalBytes: primitive('number'),
    eof: primitive('boolean'),
    producerTrustClass: optional(primitive('string')),
    producerSource: optional(kinded()),
    producerSensitivity: optional(primitive('string')),
  }),
);

/** The run a spill handle belongs to, if the handle says. */
function ownerOf(handle: string): string | undefined {
  if (!handle.startsWith(SPILL_HANDLE_SCHEME)) return undefined;
  const slash = handle.indexOf('/', SPILL_HANDLE_SCHEME.length);
  return slash > SPILL_HANDLE_SCHEME.length ? handle.slice(SPILL_HANDLE_SCHEME.length, slash) : undefined;
}

function assertOwnRun(handle: string, runId: string | undefined): void {
  const owner = ownerOf(handle);
  if (owner === undefined || runId === undefined) return;
  // The handle of an unusual run id holds its safe form, which no other run may claim as its own id.
  if (owner === (owner.startsWith('~') ? native().spillSegment(runId) : runId)) return;
  nativeRealm().increment(DENIED, 1);
  throw new Error(
    `The handle belongs to run ${JSON.stringify(owner)}; cross-run reads are disabled for this tool.`,
  );
}

/**
 * The tool `read_result`: pages through what was spilled because it was too long for the model.
 *
 * A spill handle can be read by its own run only, unless `allowCrossRun`; other handles go to the
 * reader as they are. The tool's own cap covers its largest page, so a page always comes back whole.
 *
 * @example
 * registry.register(createReadResultTool({ reader: createFileResultReader({ artifactRoot }) }));
 */
export function createReadResultTool(options: ReadResultToolOptions): Tool<ReadResultInput, ReadResultOutput> {
  const { reader, defaultMaxBytes = DEFAULT_MAX_BYTES, allowCrossRun = false } = options;
  const largest = Math.max(defaultMaxBytes, LARGEST_PAGE);
  return tool<ReadResultInput, ReadResultOutput>({
    name: 'read_result',
    description: DESCRIPTION,
    inputSchema: inputSchema(),
    outputSchema: outputSchema(),
    sideEffectClass: 'read-only',
    sandboxPolicy: 'none',
    sensitivity: 'internal',
    tags: ['built-in', 'result-handle'],
    maxResultTokens: Math.ceil((largest * JSON_UNITS_PER_BYTE + WRAPPING_UNITS) / UNITS_PER_TOKEN),
    async execute(input, ctx): Promise<ReadResultOutput> {
      const { handle, offset, length, startLine, endLine } = input;
      if (allowCrossRun !== true) assertOwnRun(handle, ctx?.runContext?.runId);
      const page: ResultReadOutcome = await reader.read(handle, {
        ...(offset === undefined ? {} : { offset }),
        ...(length === undefined ? {} : { length }),
        ...(startLine === undefined ? {} : { startLine }),
        ...(endLine === undefined ? {} : { endLine }),
        maxBytes: input.maxBytes ?? defaultMaxBytes,
      });
      nativeRealm().increment(READS, 1);
      return page;
    },
  });
}
