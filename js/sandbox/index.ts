/**
 * The sandbox tiers, the resolver that picks one, and code mode's runner.
 *
 * @packageDocumentation
 */
export type { SandboxCode, SandboxResult, SandboxRunOptions } from '../core/index.js';
export {
  runBridgedSource,
  type BridgedSourceOptions,
  type BridgedSourceResult,
  type BridgedToolCall,
  type CodeModeRunner,
} from './bridged/index.js';
export type { DockerSandboxOptions } from './docker/options.js';
export type { DockerodeClient, DockerodeContainer, DockerodeModule } from './docker/peer.js';
export { createDockerSandbox } from './docker/sandbox.js';
export {
  GraphorinSandboxError,
  MandatorySandboxOverrideError,
  SandboxFsAccessDeniedError,
  SandboxNetworkAccessDeniedError,
  SandboxPeerUnavailableError,
  UnsupportedSandboxKindError,
} from './errors.js';
export {
  createIsolatedVMSandbox,
  type IsolatedVMContext,
  type IsolatedVMIsolate,
  type IsolatedVMPeerModule,
  type IsolatedVMSandboxOptions,
  type IsolatedVMScript,
} from './isolated-vm.js';
export { createNoneSandbox, type NoneSandboxHandler, type NoneSandboxOptions } from './none.js';
export {
  DEFAULT_MEMORY_LIMITS_MB,
  DEFAULT_TIMEOUTS_MS,
  resolveSandbox,
  type ResolvedSandboxPolicy,
  type ResolveSandboxInput,
  type SandboxPolicyOverride,
  type SandboxTrustLevel,
} from './policy.js';
export type { SandboxCapabilities, SandboxImpl, SandboxKind } from './types.js';
export {
  createWorkerThreadsSandbox,
  type WorkerPoolOptions,
  type WorkerThreadsSandboxOptions,
} from './worker-threads.js';
