// The ledger's verdict as spec 04 section 2.3 words it: slow, and nothing else.
import type { TaintLedgerSnapshot } from 'ferrule/dataflow';

export const fold = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();

export const fnv1a = (text: string): string => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
};

export class ReferenceLedger {
  private readonly min: number;
  private readonly budget: number;
  private total = 0;
  private untrustedSeen = false;
  private readonly spans: { kind: string; text: string }[] = [];

  constructor(options: { minSpanLength?: number; maxTrackedChars?: number } = {}) {
    this.min = Math.max(options.minSpanLength ?? 20, 8);
    this.budget = Math.max(this.min, options.maxTrackedChars ?? 262_144);
  }

  recordOutput(label: { untrusted: boolean; sourceKind: string }, text: string): void {
    if (!label.untrusted) return;
    this.untrustedSeen = true;
    this.track(label.sourceKind, text);
  }

  recordAssistantOutput(text: string): void {
    if (this.untrustedSeen) this.track('llm-derived', text);
  }

  private track(kind: string, raw: string): void {
    const text = fold(raw).slice(0, this.budget);
    if (text.length < this.min) return;
    this.spans.push({ kind, text });
    this.total += text.length;
    while (this.total > this.budget && this.spans.length > 1) {
      this.total -= this.spans.shift()?.text.length ?? 0;
    }
  }

  inspectArgs(raw: string): { carriesUntrustedVerbatim: boolean; matchedSourceKinds: string[] } {
    const args = fold(raw);
    const width = Math.min(this.min, args.length);
    const kinds = new Set<string>();
    if (width >= 8) {
      const grams = new Set<string>();
      for (let at = 0; at + width <= args.length; at += 1) grams.add(args.slice(at, at + width));
      for (const span of this.spans) {
        for (let at = 0; at + width <= span.text.length; at += 1) {
          if (grams.has(span.text.slice(at, at + width))) {
            kinds.add(span.kind);
            break;
          }
        }
      }
    }
    return { carriesUntrustedVerbatim: kinds.size > 0, matchedSourceKinds: [...kinds] };
  }

  tileHashes(): TaintLedgerSnapshot['spanTileHashes'] {
    const hashes = new Set<string>();
    for (const { text } of this.spans) {
      for (let at = 0; at + this.min <= text.length; at += this.min) hashes.add(fnv1a(text.slice(at, at + this.min)));
    }
    return [...hashes].slice(0, 8192);
  }
}
