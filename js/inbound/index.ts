/**
 * Text from outside, made fit for a model: the imperative-pattern catalogue, the scanner, and the
 * envelope around untrusted content.
 *
 * @packageDocumentation
 */
export {
  BUILT_IN_IMPERATIVE_PATTERNS,
  IMPERATIVE_PREFILTER_SUBSTRINGS,
  type ImperativePattern,
  type ImperativePatternName,
} from './catalogue.js';
export type { InjectionClassifier } from '../inspect/index.js';
export {
  type InboundSanitizationOptions,
  type InboundSanitizationWithClassifierOptions,
  type NeutralizeEnvelopeDelimitersOptions,
  type SanitizationOutcome,
  UNTRUSTED_CONTENT_CLOSE,
  UNTRUSTED_CONTENT_OPEN_PREFIX,
  applyInboundSanitization,
  applyInboundSanitizationWithClassifier,
  neutralizeEnvelopeDelimiters,
} from './sanitize.js';
export { type ImperativeScanResult, scanImperativePatterns, stripImperativePatterns } from './scan.js';
