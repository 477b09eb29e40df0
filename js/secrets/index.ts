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
export { MemorySecretsStore } from './memory-store.js';
export type { SecretListEntry, SecretScope, SecretSetOptions } from './memory-store.js';
export { assertNotNakedString, parseOrAssert, parseSecretRef } from './reference.js';
export type { ParsedSecretRef } from './reference.js';
export {
  _resetSecretsFactoryForTesting,
  envResolver,
  getResolver,
  listResolverSchemes,
  registerResolver,
  resolveSecret,
  unregisterResolver,
} from './resolvers.js';
export type { RegisterResolverOptions, SecretResolver } from './resolvers.js';
export {
  SecretValue,
  _resetSecretValueAuditListenersForTesting,
  _resetWithSecretListenersForTesting,
  onSecretValueAudit,
  onWithSecretAudit,
  withSecret,
} from './value.js';
export type {
  SecretValueAuditEvent,
  SecretValueAuditListener,
  SecretValueOptions,
  SecretValueSource,
  WithSecretAuditEvent,
  WithSecretListener,
} from './value.js';
