import { NOOP_LOGGER, NOOP_TRACER } from '../core/index.js';
import type {
  ContentChunk,
  SecretValue,
  ToolExecutionContext,
  ToolSecretsAccessor,
} from '../core/index.js';
import { denyToolSecret } from '../secrets/context.js';
import type { ToolSecretsOwner } from '../secrets/context.js';
import type { StreamingChannel } from '../streaming/index.js';
import type { Frame } from './frame.js';
import type { SecretResolverHook, ToolContextOptions } from './types.js';

function secretRequired(message: string): Error {
  return Object.defineProperty(new Error(message), 'kind', { value: 'secret-required' });
}

/**
 * A rejection that has been seen: a tool that drops the promise of a denied secret must not end the
 * process with an unhandled rejection.
 */
function refused(error: Error): Promise<never> {
  const promise = Promise.reject(error);
  promise.catch(() => {});
  return promise;
}

async function lookUp(
  toolName: string,
  resolver: SecretResolverHook,
  key: string,
  optional: boolean,
): Promise<SecretValue | null> {
  const value = await resolver.resolve(key);
  if (value !== null && value !== undefined) return value;
  if (optional) return null;
  throw secretRequired(
    `Tool "${toolName}" required secret "${key}" but the secrets store returned no value.`,
  );
}

/**
 * `ctx.secrets` of one tool. The key has to be allowed by the active scope and, where the executor
 * names the owner, by the tool's own list too, so that callbacks outside `execute` read no more.
 *
 * @internal
 */
export function secretsAccessor(
  toolName: string,
  resolver: SecretResolverHook | undefined,
  owner?: ToolSecretsOwner,
): ToolSecretsAccessor {
  const require = (key: string, options?: { readonly optional?: boolean }): Promise<never> => {
    const denied = denyToolSecret(key, owner);
    if (denied) return refused(denied);
    const optional = options?.optional === true;
    if (resolver) return lookUp(toolName, resolver, key, optional) as Promise<never>;
    if (optional) return Promise.resolve(null as never);
    return refused(
      secretRequired(
        `Tool "${toolName}" requested secret "${key}" but no secrets store is configured for this run.`,
      ),
    );
  };
  return Object.freeze({ require });
}

/**
 * Builds the frozen context a tool receives: eight keys, nothing else (spec 02 section 11.1).
 *
 * @example
 * const ctx = buildToolExecutionContext({ tool, toolCallId: 'c1', runContext, signal, streamingChannel });
 */
export function buildToolExecutionContext<TDeps = unknown>(
  opts: ToolContextOptions<TDeps>,
): ToolExecutionContext<TDeps> {
  const channel = opts.streamingChannel;
  return Object.freeze({
    toolCallId: opts.toolCallId,
    runContext: opts.runContext,
    signal: opts.signal,
    tracer: opts.tracer ?? opts.runContext.tracer ?? NOOP_TRACER,
    logger: opts.logger ?? NOOP_LOGGER,
    secrets: secretsAccessor(opts.tool.name, opts.secretResolver),
    reportProgress: (current: number, total?: number, message?: string) =>
      channel.reportProgress(current, total, message),
    streamContent: (chunk: ContentChunk) => channel.streamContent(chunk),
  });
}

const unheard = (): void => {};

/**
 * The same context for a call of the executor, which names the owner its secrets are bound to. A tool
 * that does not stream has no channel and is heard by nobody.
 *
 * @internal
 */
export function contextOf(
  frame: Frame,
  signal: AbortSignal,
  channel: StreamingChannel | undefined,
  owner: ToolSecretsOwner,
): ToolExecutionContext {
  return Object.freeze({
    toolCallId: frame.call.toolCallId,
    runContext: frame.runContext,
    signal,
    tracer: frame.runContext.tracer ?? NOOP_TRACER,
    logger: NOOP_LOGGER,
    secrets: secretsAccessor(frame.tool.name, frame.state.options.secretResolver, owner),
    reportProgress: channel?.reportProgress ?? unheard,
    streamContent: channel?.streamContent ?? unheard,
  });
}
