import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import * as core from 'ferrule/core';
import * as dataflow from 'ferrule/dataflow';
import * as guard from 'ferrule/guard';
import * as inspect from 'ferrule/inspect';
import * as policy from 'ferrule/policy';
import * as secrets from 'ferrule/secrets';

const names = (text: string): string[] => text.trim().split(/\s+/).sort();

describe('run-time exports of the security subpaths', () => {
  it.each([
    ['dataflow (2.1, and containsPii)', dataflow, 'containsPii createDataFlowPolicy createTaintLedger deriveTaintLabel isUntrustedTrustClass'],
    [
      'guard (3.1)',
      guard,
      `DEFAULT_MEMORY_TAG_PATTERNS MemoryGuardBudgetExceededError _getMemoryGuardAuditListenerCountForTesting
       _resetMemoryGuardAuditListenersForTesting classifyTool createApiBoundaryGuard createAuditOnlyGuard createGuard createNoGuard
       createStrictFullGuard emitMemoryGuardAudit guardVariantForTier hashRegion onMemoryGuardAudit xxhash32`,
    ],
    [
      'policy (4.1, and explainPermissionDecision)',
      policy,
      'buildRuleOfTwoPolicy evaluatePermissionDecision evaluateToolArgumentPolicy explainPermissionDecision isToolDeniedByName',
    ],
    ['inspect (5)', inspect, 'injectionClassifierOutputGuardrail runInjectionClassifier'],
    [
      'secrets (6.0)',
      secrets,
      `GraphorinSecretsError MemorySecretsStore MemoryStoreInProductionError SecretAccessDeniedError SecretRefParseError
       SecretRequiredError SecretResolutionError SecretValue UnknownSchemeError _getSecretsAuditListenerCountForTesting
       _resetSecretValueAuditListenersForTesting _resetSecretsAuditListenersForTesting _resetSecretsFactoryForTesting
       _resetWithSecretListenersForTesting assertNotNakedString computeEffectiveAllowlist emitSecretsAudit enforceSecretAcl
       envResolver getActiveToolSecretsContext getResolver listResolverSchemes onSecretValueAudit onSecretsAudit onWithSecretAudit
       parseOrAssert parseSecretRef registerResolver resolveSecret unregisterResolver withChildToolSecretsContext withSecret
       withToolSecretsContext`,
    ],
  ])('%s', (_name, subpath, expected) => {
    expect(Object.keys(subpath).sort()).toEqual(names(expected));
  });

  it('a value satisfies the contract of ./core', () => {
    const value: core.SecretValue = secrets.SecretValue.fromString('x');
    expect(value[core.SECRET_VALUE_BRAND]).toBe(true);
  });
});

it('9.10 each thread has listeners of its own; ledgers end with their thread', async () => {
  // The built package: a worker does not go through the test runner's aliases.
  const built = (subpath: string) => JSON.stringify(new URL(`../../dist/${subpath}/index.js`, import.meta.url).href);
  const text = `(async () => {
    const { parentPort } = require('node:worker_threads');
    const { createTaintLedger } = await import(${built('dataflow')});
    const { onSecretsAudit, _getSecretsAuditListenerCountForTesting: count } = await import(${built('secrets')});
    onSecretsAudit(() => undefined);
    const ledgers = Array.from({ length: 50 }, () => createTaintLedger());
    const label = { untrusted: true, sensitive: false, sourceKind: 'x' };
    for (const ledger of ledgers) ledger.recordOutput(label, 'some text that is tracked '.repeat(5000));
    const found = ledgers.every((ledger) => ledger.inspectArgs('some text that is tracked').carriesUntrustedVerbatim);
    parentPort.postMessage([count(), found]);
  })();`;
  const run = () =>
    new Promise<unknown>((resolve, reject) => {
      const worker = new Worker(text, { eval: true });
      let answer: unknown;
      worker.on('message', (message) => (answer = message));
      worker.on('error', reject);
      worker.on('exit', (code) => resolve([code, answer]));
    });
  expect(await Promise.all([run(), run(), run()])).toEqual(Array(3).fill([0, [1, true]]));
});
