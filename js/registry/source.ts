import type { ToolSource, ToolTrustClass } from '../core/index.js';

/** The field that tells sources of one kind apart; empty for first-party. @internal */
export function sourceIdentity(source: ToolSource): string {
  switch (source.kind) {
    case 'built-in':
      return source.subsystem;
    case 'skill':
      return source.skillName;
    case 'mcp':
      return source.serverIdentity;
    case 'web-search':
      return source.providerName;
    default:
      return '';
  }
}

/** How audit rows and errors name a source. @internal */
export function describeSource(source: ToolSource): string {
  if (source.kind === 'first-party') return source.kind;
  const text = `${source.kind}:${sourceIdentity(source)}`;
  return source.kind === 'skill' ? `${text}#${source.trustLevel}` : text;
}

/** Whether two sources are one, so that the second registration replaces the first. @internal */
export function isSameSource(a: ToolSource, b: ToolSource): boolean {
  if (a.kind !== b.kind || sourceIdentity(a) !== sourceIdentity(b)) return false;
  return a.kind !== 'skill' || b.kind !== 'skill' || a.trustLevel === b.trustLevel;
}

/** Whether a collision is won by precedence. @internal */
export function isFirstPartyLike(source: ToolSource): boolean {
  return source.kind === 'first-party' || source.kind === 'built-in';
}

const LADDER: Readonly<Record<ToolTrustClass, number>> = {
  'first-party-built-in': 100,
  'first-party-user-defined': 100,
  'skill-trusted': 80,
  'skill-untrusted': 60,
  'mcp-derived': 40,
  'web-search': 20,
  'channel-inbound': 0,
};

/** The rung that decides between sources none of which is first-party. @internal */
export function trustRung(trustClass: ToolTrustClass): number {
  return LADDER[trustClass] ?? 0;
}
