import { NOOP_LOGGER, NOOP_TRACER } from '../core/index.js';
import type {
  ContentChunk,
  SecretValue,
  ToolExecutionContext,
  ToolSecretsAccessor,
} from '../core/index.js';
import { denyToolSecret } from '../secrets/context.js';
import type { ToolSecretsOwner } from '../secrets/context.js';
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

/** What a context shows of its call. */
interface Shown {
  readonly signal: AbortSignal;
  /** Only of a tool that streams. */
  readonly channel: Pick<ToolExecutionContext, 'reportProgress' | 'streamContent'> | undefined;
}

class Itself {
  constructor(object: object) {
    // So that a subclass adds its private field to `object`.
    return object;
  }
}

/** Ties an object to its call without a property that anybody could see or change. */
class Tied extends Itself {
  readonly #shown: Shown;

  constructor(object: object, shown: Shown) {
    super(object);
    this.#shown = shown;
  }

  static to(object: unknown): Shown | undefined {
    return typeof object === 'object' && object !== null && #shown in object ? object.#shown : undefined;
  }
}

/**
 * Reads the signal of a context, which is `this`, or of what stands for one: an object made of it, or a
 * proxy around it. Neither is tied itself, but the one leads to the context by its prototypes, and the
 * other has to show its `secrets` as they are, for the context is frozen.
 */
function signalOf(this: unknown): AbortSignal {
  for (let object: unknown = this; typeof object === 'object' && object !== null; object = Object.getPrototypeOf(object)) {
    const shown = Tied.to(object) ?? Tied.to((object as Partial<ToolExecutionContext>).secrets);
    if (shown) return shown.signal;
  }
  throw new TypeError('ctx.signal: read of an object that is no tool context.');
}

const SIGNAL: PropertyDescriptor = { get: signalOf, enumerable: true, configurable: true };

/**
 * The same context for a call of the executor, which names the owner its secrets are bound to. A tool
 * that does not stream has no channel and is heard by nobody.
 *
 * @internal
 */
export function contextOf(frame: Frame, shown: Shown, owner: ToolSecretsOwner): ToolExecutionContext {
  const secrets = secretsAccessor(frame.tool.name, frame.state.options.secretResolver, owner);
  const ctx: Record<string, unknown> = { toolCallId: frame.call.toolCallId, runContext: frame.runContext };
  Object.defineProperty(ctx, 'signal', SIGNAL);
  // One by one, so that the keys stand in the order they always had; V8 would take longer to turn a
  // place kept free for `signal` into an accessor.
  ctx['tracer'] = frame.runContext.tracer ?? NOOP_TRACER;
  ctx['logger'] = NOOP_LOGGER;
  ctx['secrets'] = secrets;
  ctx['reportProgress'] = shown.channel?.reportProgress ?? unheard;
  ctx['streamContent'] = shown.channel?.streamContent ?? unheard;
  new Tied(ctx, shown);
  new Tied(secrets, shown);
  return Object.freeze(ctx) as unknown as ToolExecutionContext;
}
