/**
 * Labels: how far a text is trusted, and whether it is sensitive.
 *
 * @packageDocumentation
 */
import { native } from '../binding.js';
import type { Sensitivity, ToolSource, ToolTrustClass } from '../core/index.js';

/** What is known about one text: two bits, and where they come from. Plain and unfrozen. */
export interface TaintLabel {
  /** How far the tool is trusted. */
  readonly trustClass: ToolTrustClass;
  /** The kind of the tool's source, or `unknown`. Any string. */
  readonly sourceKind: string;
  /** How confidential the tool is. */
  readonly sensitivity: Sensitivity | 'unknown';
  /** The text comes from outside: it may hold instructions that nobody here wrote. */
  readonly untrusted: boolean;
  /** The text must not leave. */
  readonly sensitive: boolean;
}

/** What a label is derived from. */
export interface TaintLabelInput {
  /** How far the tool is trusted. */
  readonly trustClass: ToolTrustClass;
  /** Only `kind` is read. Absent: `sourceKind` is `unknown`. */
  readonly source?: ToolSource | { readonly kind: string } | undefined;
  /** Absent: `unknown`, which is never sensitive. */
  readonly sensitivity?: Sensitivity | undefined;
  /** Which sensitivities count as sensitive. Default: `secret` only. */
  readonly sensitiveTiers?: readonly Sensitivity[] | undefined;
}

/**
 * Whether output of this trust class is untrusted: untrusted skills, MCP servers, web search and
 * inbound channel messages. The one definition for the whole package.
 */
export function isUntrustedTrustClass(trustClass: ToolTrustClass): boolean {
  return native().isUntrustedTrustClass(String(trustClass));
}

/**
 * Labels a text by the tool that produced it. The result has exactly five keys and may be spread to
 * override a flag; flags may be widened, and should never be narrowed.
 *
 * @example
 * const label = deriveTaintLabel({ trustClass: 'mcp-derived', source: { kind: 'mcp' } });
 * ledger.recordOutput({ ...label, sensitive: true }, text);
 */
export function deriveTaintLabel(input: TaintLabelInput): TaintLabel {
  const { trustClass, source, sensitivity, sensitiveTiers = ['secret'] } = input;
  const bits = native().taintLabel(String(trustClass), sensitivity ?? undefined, [...sensitiveTiers]);
  return {
    trustClass,
    sourceKind: source?.kind ?? 'unknown',
    sensitivity: sensitivity ?? 'unknown',
    untrusted: (bits & 1) !== 0,
    sensitive: (bits & 2) !== 0,
  };
}
