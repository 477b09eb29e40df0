/**
 * `ferrule/secrets`: what tools touch of secrets. Scopes and their ACL, the audit bus, values that
 * do not show themselves, references and their resolvers, and a store in memory.
 *
 * @packageDocumentation
 */
export {
  _getSecretsAuditListenerCountForTesting,
  _resetSecretsAuditListenersForTesting,
  emitSecretsAudit,
  onSecretsAudit,
} from './audit.js';
export type {
  SecretsAuditAction,
  SecretsAuditActor,
  SecretsAuditDecision,
  SecretsAuditEvent,
  SecretsAuditListener,
} from './audit.js';
export {
  computeEffectiveAllowlist,
  enforceSecretAcl,
  getActiveToolSecretsContext,
  withChildToolSecretsContext,
  withToolSecretsContext,
} from './context.js';
export type { ToolSecretsContext } from './context.js';
export {
  GraphorinSecretsError,
  MemoryStoreInProductionError,
  SecretAccessDeniedError,
  SecretRefParseError,
  SecretRequiredError,
  SecretResolutionError,
  UnknownSchemeError,
} from './errors.js';
export type { GraphorinSecretsErrorOptions, SecretRefParseErrorKind } from './errors.js';
