import type {
  InboundSanitizationPolicy,
  ToolSource,
  ToolTrustClass,
  TruncationStrategy,
} from '../core/index.js';

/**
 * How far a tool is trusted, by where it came from. A built-in of the subsystem `web-search` is
 * trusted no more than the web; a skill only when its `trustLevel` is `trusted`.
 *
 * @example resolveTrustClass({ kind: 'mcp', serverIdentity: 'linear' }); // 'mcp-derived'
 */
export function resolveTrustClass(source: ToolSource): ToolTrustClass {
  switch (source.kind) {
    case 'first-party':
      return 'first-party-user-defined';
    case 'built-in':
      return source.subsystem === 'web-search' ? 'web-search' : 'first-party-built-in';
    case 'skill':
      return source.trustLevel === 'trusted' ? 'skill-trusted' : 'skill-untrusted';
    case 'mcp':
      return 'mcp-derived';
    case 'web-search':
      return 'web-search';
  }
}

/** The inbound policy of a tool that declares none: the less trusted, the more is done to its output. */
export function defaultInboundSanitization(trustClass: ToolTrustClass): InboundSanitizationPolicy {
  switch (trustClass) {
    case 'first-party-built-in':
      return 'pass-through';
    case 'first-party-user-defined':
    case 'skill-trusted':
      return 'detect-and-flag';
    case 'skill-untrusted':
    case 'mcp-derived':
    case 'web-search':
    case 'channel-inbound':
      return 'detect-and-strip-and-wrap';
  }
}

/**
 * The truncation strategy of a tool that declares none: `tail` for the built-in `code_execution`,
 * `summarize` for web search (by class or by the name `web_search`), else `middle`.
 */
export function defaultTruncationStrategy(trustClass: ToolTrustClass, toolName: string): TruncationStrategy {
  if (trustClass === 'first-party-built-in' && toolName === 'code_execution') return 'tail';
  if (trustClass === 'web-search' || toolName === 'web_search') return 'summarize';
  return 'middle';
}
