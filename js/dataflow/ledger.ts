/**
 * The ledger of one run: what untrusted text it has seen, and whether a call's arguments carry it.
 *
 * @packageDocumentation
 */
import { emitToolAudit } from '../audit/index.js';
import { native } from '../binding.js';
import type { NativeLedger, NativeTiles } from '../../native/binding.js';
import type { TaintLabel } from './labels.js';

/** What a probe of arguments found. */
export interface ArgsTaintProbe {
  /** A piece of untrusted text is in the arguments. */
  readonly carriesUntrustedVerbatim: boolean;
  /** Kinds of the sources that were copied, each once; `resumed-untrusted` for text read before a resume. */
  readonly matchedSourceKinds: string[];
}

/** A ledger's state without any text; survives JSON. */
export interface TaintLedgerSnapshot {
  /** Whether any untrusted text was recorded. */
  readonly untrustedSeen: boolean;
  /** Whether any sensitive text was recorded. */
  readonly sensitiveSeen: boolean;
  /** Kinds of untrusted sources, in the order first seen. */
  readonly untrustedSourceKinds: readonly string[];
  /** Hashes of pieces of tracked text; absent when there are none. */
  readonly spanTileHashes?: readonly string[];
  /** How long, in folded UTF-16 units, those pieces may be; absent when it is the default, 20. */
  readonly spanTileLengths?: readonly number[];
}

/** Encodings of argument values that a probe can undo. */
export type TaintEncoding = 'percent' | 'base64' | 'hex' | 'json';

/** Options of {@link createTaintLedger}. */
export interface TaintLedgerOptions {
  /**
   * The shortest copy that counts, in letters and digits (UTF-16 units after folding). Default 20,
   * at least 8.
   */
  readonly minSpanLength?: number;
  /** How much text is tracked, in the same units; the oldest goes first. Default 262144. */
  readonly maxTrackedChars?: number;
  /** A snapshot to go on from. */
  readonly initial?: Partial<TaintLedgerSnapshot>;
  /**
   * Whether a text is sensitive by its contents. Asked for every recorded output until sensitive data
   * was seen. A truthy answer counts, and so does a throw, which is reported by an audit row
   * (`tool:dataflow:flagged`, decision `error`).
   */
  readonly piiSensitivity?: (text: string) => boolean;
  /**
   * A list of the encodings to undo in argument values before comparing, up to three in one another; anything
   * else is a `TypeError`. Default none.
   */
  readonly decodeArgs?: readonly TaintEncoding[];
}

/**
 * A ledger: a plain object with writable members that work detached. Everything is synchronous.
 */
export interface TaintLedger {
  /** Whether any untrusted text was recorded. Never goes back to false. */
  readonly untrustedSeen: boolean;
  /** Whether any sensitive text was recorded. Never goes back to false. */
  readonly sensitiveSeen: boolean;
  /** Kinds of untrusted sources, in the order first seen. A fresh array each time. */
  readonly untrustedSourceKinds: string[];
  /** Records what a tool returned. Of the label only `untrusted`, `sensitive` and `sourceKind` are read. */
  recordOutput(label: RecordedLabel, text: string): void;
  /** Records a message from outside; the same as {@link TaintLedger.recordOutput}. */
  recordInboundMessage(label: RecordedLabel, text: string): void;
  /** Records what the model wrote: tracked as `llm-derived` once untrusted text was seen. */
  recordAssistantOutput(text: string): void;
  /**
   * Whether the arguments of a call, as text (usually JSON), carry a piece of tracked text. Case,
   * blanks, punctuation, full-width forms and accents composed or not make no difference. Of JSON the
   * decoded string values are also compared, one after another.
   */
  inspectArgs(text: string): ArgsTaintProbe;
  /** The state, without any text. */
  snapshot(): TaintLedgerSnapshot;
}

/** The part of a label that a ledger reads. */
export type RecordedLabel = Pick<TaintLabel, 'untrusted' | 'sensitive' | 'sourceKind'>;

const ENCODINGS: readonly TaintEncoding[] = ['percent', 'base64', 'hex', 'json'];

const NOTHING: NativeTiles = { hashes: [], lengths: [] };

const numberOf = (given: number | undefined): number | undefined => (given === undefined ? undefined : Number(given));

/** Names the error only: its message may hold a piece of the text. */
function reportPredicate(sourceKind: string, error: unknown): void {
  emitToolAudit({
    action: 'tool:dataflow:flagged',
    actor: { kind: 'system', id: 'dataflow' },
    target: sourceKind,
    decision: 'error',
    ts: Date.now(),
    metadata: { kind: 'pii-predicate-threw', error: error instanceof Error ? error.name : typeof error },
  });
}

function encodingBits(asked: unknown): number {
  if (asked === undefined) return 0;
  // A misspelt encoding must not pass for one that is undone.
  if (!Array.isArray(asked) || asked.some((encoding) => !ENCODINGS.includes(encoding))) {
    throw new TypeError("decodeArgs must be an array of 'percent', 'base64', 'hex' and 'json'.");
  }
  return ENCODINGS.reduce((bits, encoding, at) => bits | (asked.includes(encoding) ? 1 << at : 0), 0);
}

/**
 * Makes the ledger of one run. Costs next to nothing until untrusted text is recorded.
 *
 * @example
 * const ledger = createTaintLedger({ piiSensitivity: containsPii });
 * ledger.recordOutput(deriveTaintLabel({ trustClass: 'web-search' }), pageText);
 * ledger.inspectArgs(JSON.stringify(args)).carriesUntrustedVerbatim; // a piece of the page goes out
 */
export function createTaintLedger(options: TaintLedgerOptions = {}): TaintLedger {
  const { initial = {}, piiSensitivity } = options;
  const min = numberOf(options.minSpanLength);
  const budget = numberOf(options.maxTrackedChars);
  const tiles = [...(initial.spanTileHashes ?? [])].join(' ');
  const tileLengths = [...(initial.spanTileLengths ?? [])].map(Number);
  const encodings = encodingBits(options.decodeArgs);
  let untrustedSeen = initial.untrustedSeen ?? false;
  let sensitiveSeen = initial.sensitiveSeen ?? false;
  const seenKinds = new Set(initial.untrustedSourceKinds);
  /** The engine knows kinds by number. */
  const kindNumbers = new Map<string, number>();
  const kindNames: string[] = [];
  let engine: NativeLedger | undefined;

  const open = (): NativeLedger => {
    engine ??= new (native().NativeLedger)(min, budget, tiles, tileLengths, encodings);
    return engine;
  };

  const track = (kind: string, text: string): void => {
    let number = kindNumbers.get(kind);
    if (number === undefined) {
      number = kindNames.push(kind) - 1;
      kindNumbers.set(kind, number);
    }
    open().record(number, String(text));
  };

  const looksSensitive = (label: RecordedLabel, text: string): boolean => {
    if (piiSensitivity === undefined) return false;
    try {
      return Boolean(piiSensitivity(text));
    } catch (error) {
      // Whether the text is sensitive is not known, so it is treated as if it were.
      reportPredicate(label.sourceKind, error);
      return true;
    }
  };

  const record = (label: RecordedLabel, text: string): void => {
    if (label.sensitive) sensitiveSeen = true;
    else if (!sensitiveSeen && looksSensitive(label, text)) sensitiveSeen = true;
    if (!label.untrusted) return;
    untrustedSeen = true;
    seenKinds.add(label.sourceKind);
    track(label.sourceKind, text);
  };

  return {
    get untrustedSeen() {
      return untrustedSeen;
    },
    get sensitiveSeen() {
      return sensitiveSeen;
    },
    get untrustedSourceKinds() {
      return [...seenKinds];
    },
    recordOutput(label, text) {
      record(label, text);
    },
    recordInboundMessage(label, text) {
      record(label, text);
    },
    recordAssistantOutput(text) {
      if (untrustedSeen) track('llm-derived', text);
    },
    inspectArgs(text) {
      const nothingTracked = engine === undefined && tiles === '';
      const matched = nothingTracked ? null : open().inspect(String(text));
      if (matched === null) return { carriesUntrustedVerbatim: false, matchedSourceKinds: [] };
      // Lists of ours: those of the native side belong to another realm where tests run in one of their own.
      const kinds = Array.from(matched, (kind) => kindNames[kind] ?? 'unknown');
      return {
        carriesUntrustedVerbatim: true,
        matchedSourceKinds: kinds.length === 0 ? ['resumed-untrusted'] : kinds,
      };
    },
    snapshot() {
      const { hashes, lengths } = engine === undefined && tiles === '' ? NOTHING : open().snapshot();
      return {
        untrustedSeen,
        sensitiveSeen,
        untrustedSourceKinds: [...seenKinds],
        ...(hashes.length > 0 && { spanTileHashes: [...hashes] }),
        ...(hashes.length > 0 && lengths.length > 0 && { spanTileLengths: [...lengths] }),
      };
    },
  };
}
