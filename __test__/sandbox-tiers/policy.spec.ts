import { describe, expect, it } from 'vitest';
import {
  DEFAULT_MEMORY_LIMITS_MB,
  DEFAULT_TIMEOUTS_MS,
  resolveSandbox,
  type ResolveSandboxInput,
  type SandboxPolicyOverride,
} from 'ferrule/sandbox';

const level = (trustLevel: string, override?: SandboxPolicyOverride) =>
  resolveSandbox({ trustLevel, ...(override === undefined ? {} : { override }) } as ResolveSandboxInput);

describe('spec 04 §1.2 resolveSandbox', () => {
  const table: ReadonlyArray<readonly [string, SandboxPolicyOverride | undefined, Record<string, unknown>]> = [
    ['built-in', { kind: 'docker', timeoutMs: 1 }, { kind: 'none', noNetwork: false, timeoutMs: 0, maxMemoryMb: 0, forced: false }],
    ['user-defined', undefined, { kind: 'worker-threads', noNetwork: false, noFilesystem: false, timeoutMs: 5000, maxMemoryMb: 256, forced: false }],
    ['user-defined', { kind: 'docker' }, { kind: 'docker', timeoutMs: 30000, maxMemoryMb: 512 }],
    ['user-defined', { kind: 'isolated-vm', noNetwork: true, noFilesystem: true }, { kind: 'isolated-vm', noNetwork: true, noFilesystem: true, timeoutMs: 5000, maxMemoryMb: 128 }],
    ['user-defined', { kind: 'none' }, { kind: 'none', timeoutMs: 0, maxMemoryMb: 0 }],
    ['user-defined', { timeoutMs: 0, maxMemoryMb: -1 }, { timeoutMs: 0, maxMemoryMb: 256, forced: false }],
    ['user-defined', { timeoutMs: -5, maxMemoryMb: 64 }, { timeoutMs: 5000, maxMemoryMb: 64, forced: false }],
    ['user-defined', { kind: 'custom' }, { kind: 'custom', timeoutMs: 5000, maxMemoryMb: 256 }],
    ['trusted', { kind: 'docker' }, { kind: 'docker' }],
    ['elsewhere', undefined, { kind: 'worker-threads' }],
    ['untrusted', undefined, { kind: 'worker-threads', noNetwork: true, noFilesystem: true, timeoutMs: 5000, maxMemoryMb: 128, forced: false }],
    ['untrusted', { kind: 'none' }, { kind: 'worker-threads', forced: true }],
    ['untrusted', { kind: 'worker-threads', timeoutMs: 9, maxMemoryMb: 7 }, { forced: false, timeoutMs: 9, maxMemoryMb: 7 }],
    ['untrusted', { timeoutMs: 0, noNetwork: false, noFilesystem: false }, { forced: true, timeoutMs: 5000, noNetwork: true, noFilesystem: true }],
    ['untrusted', { kind: 'docker' }, { kind: 'docker', noNetwork: true, noFilesystem: true, forced: false }],
  ];
  for (const [trustLevel, override, expected] of table) {
    it(`${trustLevel} with ${JSON.stringify(override)}`, () => {
      const policy = level(trustLevel, override);
      expect(policy).toMatchObject(expected);
      expect(Object.isFrozen(policy)).toBe(true);
      expect(Object.keys(policy).sort()).toEqual(['forced', 'kind', 'maxMemoryMb', 'noFilesystem', 'noNetwork', 'reason', 'timeoutMs']);
    });
  }

  it('gives reasons', () => {
    expect(level('built-in').reason).toContain("'built-in'");
    expect(level('user-defined').reason).toContain("'user-defined'");
    expect(level('trusted').reason).toContain("'trusted'");
    expect(level('elsewhere').reason).toContain('user-defined');
    const { reason } = level('untrusted', { kind: 'none', noNetwork: false, noFilesystem: false, timeoutMs: -1 });
    expect(reason).toContain('mandatory');
    expect(reason.split('; ').slice(1)).toEqual([
      'override kind=none ignored',
      'override noNetwork=false ignored',
      'override noFilesystem=false ignored',
      'override timeoutMs=-1 ignored (mandatory wall-clock)',
    ]);
  });

  it('does not look at the names', () => {
    expect(resolveSandbox({ trustLevel: 'trusted', toolName: 'a', skillName: 'b' })).toEqual(level('trusted'));
  });

  it('§1.1 default records are frozen', () => {
    expect(DEFAULT_TIMEOUTS_MS).toEqual({ none: 0, 'worker-threads': 5000, 'isolated-vm': 5000, docker: 30000 });
    expect(DEFAULT_MEMORY_LIMITS_MB).toEqual({ none: 0, 'worker-threads': 256, 'isolated-vm': 128, docker: 512 });
    expect(Object.isFrozen(DEFAULT_TIMEOUTS_MS) && Object.isFrozen(DEFAULT_MEMORY_LIMITS_MB)).toBe(true);
  });
});
