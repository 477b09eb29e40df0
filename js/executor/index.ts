/**
 * `ferrule/executor`: runs the model's tool calls under control.
 *
 * @packageDocumentation
 */
export { ToolRateLimitError } from '../errors/rate-limit.js';
export { buildToolExecutionContext } from './context.js';
export { createToolExecutor } from './executor.js';
export type {
  ApprovalDecision,
  ApprovalGate,
  DataFlowGuard,
  DataFlowInspectInput,
  DataFlowRecordInput,
  DataFlowVerdict,
  ExecuteBatchOptions,
  ExecuteOneOptions,
  ExecutorEvent,
  ExecutorOptions,
  ExecutorSandboxPolicy,
  GuardVerifyResult,
  IdempotencyEntry,
  IdempotencyStore,
  MemoryModificationGuard,
  MemoryRegionReader,
  MemorySnapshot,
  PermissionHook,
  PermissionHookInput,
  PermissionHookResult,
  SecretResolverHook,
  ToolArgumentPolicyFacts,
  ToolArgumentPolicyGuard,
  ToolContextOptions,
  ToolExecutor,
  ToolRepairHook,
} from './types.js';
