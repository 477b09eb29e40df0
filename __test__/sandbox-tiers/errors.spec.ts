import { describe, expect, it } from 'vitest';
import * as sandbox from 'ferrule/sandbox';
import { GraphorinSecretsError } from '../../js/errors/security-base.js';

describe('spec 04 §1.7 errors', () => {
  const cases = [
    {
      error: new sandbox.UnsupportedSandboxKindError('firecracker', ['none', 'docker']),
      name: 'UnsupportedSandboxKindError',
      kind: 'unsupported-sandbox-kind',
      fields: { requested: 'firecracker', available: ['none', 'docker'] },
      fragments: ['firecracker', 'none, docker'],
    },
    {
      error: new sandbox.UnsupportedSandboxKindError('x', []),
      name: 'UnsupportedSandboxKindError',
      kind: 'unsupported-sandbox-kind',
      fields: { available: [] },
      fragments: ['(none registered)'],
    },
    {
      error: new sandbox.SandboxPeerUnavailableError('docker', 'dockerode', 'pnpm add dockerode', { cause: 7 }),
      name: 'SandboxPeerUnavailableError',
      kind: 'sandbox-peer-unavailable',
      fields: { adapter: 'docker', peer: 'dockerode', installCommand: 'pnpm add dockerode', hint: 'pnpm add dockerode', cause: 7 },
      fragments: ['docker', 'dockerode'],
    },
    {
      error: new sandbox.MandatorySandboxOverrideError('untrusted', 'none', 'worker-threads'),
      name: 'MandatorySandboxOverrideError',
      kind: 'mandatory-sandbox-override',
      fields: { tier: 'untrusted', attempted: 'none', mandated: 'worker-threads' },
      fragments: ['untrusted', 'none', 'worker-threads'],
    },
    {
      error: new sandbox.SandboxFsAccessDeniedError('/etc/passwd'),
      name: 'SandboxFsAccessDeniedError',
      kind: 'sandbox-fs-access-denied',
      fields: { attemptedPath: '/etc/passwd' },
      fragments: ['filesystem access denied', '/etc/passwd'],
    },
    {
      error: new sandbox.SandboxNetworkAccessDeniedError('example.org'),
      name: 'SandboxNetworkAccessDeniedError',
      kind: 'sandbox-network-access-denied',
      fields: { attemptedHost: 'example.org' },
      fragments: ['network access denied', 'example.org'],
    },
  ];

  for (const { error, name, kind, fields, fragments } of cases) {
    it(`${name}: ${fragments.join(', ')}`, () => {
      expect(error).toBeInstanceOf(sandbox.GraphorinSandboxError);
      expect(error).toBeInstanceOf(GraphorinSecretsError);
      expect(error).toBeInstanceOf(Error);
      expect(error).toMatchObject({ name, kind, ...fields });
      for (const fragment of fragments) expect(error.message).toContain(fragment);
    });
  }

  it('leaves optional fields out when they are not given', () => {
    expect('attemptedPath' in new sandbox.SandboxFsAccessDeniedError()).toBe(false);
    expect('attemptedHost' in new sandbox.SandboxNetworkAccessDeniedError()).toBe(false);
    const bare = new GraphorinSecretsError('some-kind', 'text');
    expect(bare.name).toBe('GraphorinSecretsError');
    expect(Object.hasOwn(bare, 'hint')).toBe(false);
    expect(Object.hasOwn(bare, 'cause')).toBe(false);
    expect(Object.hasOwn(new GraphorinSecretsError('k', 'm', { hint: 'h', cause: undefined }), 'cause')).toBe(true);
  });

  it('copies and freezes the list of kinds', () => {
    const kinds = ['none'];
    const error = new sandbox.UnsupportedSandboxKindError('x', kinds);
    kinds.push('docker');
    expect(error.available).toEqual(['none']);
    expect(Object.isFrozen(error.available)).toBe(true);
  });
});

describe('spec 04 §1.1 exports', () => {
  it('are exactly the fourteen values', () => {
    expect(Object.keys(sandbox).sort()).toEqual([
      'DEFAULT_MEMORY_LIMITS_MB',
      'DEFAULT_TIMEOUTS_MS',
      'GraphorinSandboxError',
      'MandatorySandboxOverrideError',
      'SandboxFsAccessDeniedError',
      'SandboxNetworkAccessDeniedError',
      'SandboxPeerUnavailableError',
      'UnsupportedSandboxKindError',
      'createDockerSandbox',
      'createIsolatedVMSandbox',
      'createNoneSandbox',
      'createWorkerThreadsSandbox',
      'resolveSandbox',
      'runBridgedSource',
    ]);
  });

  it('built-in sandboxes are frozen, with id equal to kind and their capabilities', () => {
    const all = [
      sandbox.createNoneSandbox({ resolveHandler: () => undefined }),
      sandbox.createWorkerThreadsSandbox(),
      sandbox.createIsolatedVMSandbox(),
      sandbox.createDockerSandbox(),
    ];
    expect(all.map((one) => one.kind)).toEqual(['none', 'worker-threads', 'isolated-vm', 'docker']);
    for (const one of all) {
      expect(Object.keys(one).sort()).toEqual(['capabilities', 'id', 'kind', 'run']);
      expect(one.id).toBe(one.kind);
      expect(Object.isFrozen(one) && Object.isFrozen(one.capabilities)).toBe(true);
      const can = one.kind !== 'none';
      expect(one.capabilities).toEqual({
        canBlockNetwork: can,
        canBlockFilesystem: can,
        canEnforceTimeout: can,
        canEnforceMemoryLimit: can,
      });
    }
  });
});
