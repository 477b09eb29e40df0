/**
 * Which tool is running, and which secrets it may read.
 *
 * The scope lives in async-local storage: it follows awaits, timers and event handlers that start
 * inside it, and two calls in flight never see each other's. Outside every scope nothing is
 * restricted. A scope never grants more than the scope around it.
 *
 * @packageDocumentation
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { emitSecretsAudit, type SecretsAuditActor } from './audit.js';
import { SecretAccessDeniedError } from './errors.js';

/** Who is running and what it may read. */
export interface ToolSecretsContext {
  /** Name of the tool. */
  readonly toolName: string;
  /** Id of the run. */
  readonly runId?: string;
  /** Id of the session the run belongs to. */
  readonly sessionId?: string;
  /** Id of the agent. */
  readonly agentId?: string;
  /** The keys that may be read: exact and case-sensitive. Empty: none. */
  readonly secretsAllowed: readonly string[];
  /** The scope around this one; absent when there is none. */
  readonly parent?: ToolSecretsContext;
}

/** A scope without the one around it. */
export type ToolSecretsOwner = {
  readonly [K in keyof Omit<ToolSecretsContext, 'parent'>]: ToolSecretsContext[K] | undefined;
} & Pick<ToolSecretsContext, 'toolName' | 'secretsAllowed'>;

/**
 * `allowed` is fixed when the scope opens, so that a tool cannot widen its own list later; `outer`
 * is what was active then, which a context handed in by a caller need not tell.
 */
interface Frame {
  readonly context: ToolSecretsContext;
  readonly allowed: readonly string[];
  readonly outer: Frame | undefined;
}

const frames = new AsyncLocalStorage<Frame | undefined>();

const NOTHING: readonly string[] = Object.freeze([]);

function intersect(parent: readonly string[] | undefined, declared: readonly string[]): readonly string[] {
  if (declared.length === 0) return NOTHING;
  const distinct = [...new Set(declared)];
  return Object.freeze(parent === undefined ? distinct : distinct.filter((key) => parent.includes(key)));
}

/**
 * What a tool may read inside another's scope: its own keys, each once and in its own order, as far
 * as the parent may read them too. Without a parent, its own keys.
 *
 * @returns a frozen array.
 */
export function computeEffectiveAllowlist(
  parent: ToolSecretsContext | undefined,
  declared: readonly string[],
): readonly string[] {
  return intersect(parent?.secretsAllowed, declared);
}

/**
 * Runs `fn` in the scope given, as it is: no intersection with the scope around it. Freezes `ctx`.
 *
 * @returns what `fn` returns, a promise as that very promise. What `fn` throws passes through.
 * @example
 * withToolSecretsContext({ toolName: 'mail.send', secretsAllowed: ['SMTP_TOKEN'] }, () => send());
 */
export function withToolSecretsContext<T>(ctx: ToolSecretsContext, fn: () => T): T {
  const context = Object.freeze(ctx);
  const frame: Frame = { context, allowed: [...(context.secretsAllowed ?? [])], outer: frames.getStore() };
  return frames.run(frame, fn);
}

/**
 * Runs `fn` in a scope below the active one: the child may read what it declares and its parent may
 * read too. The executor opens one around every tool.
 *
 * @returns what `fn` returns, a promise as that very promise. What `fn` throws passes through.
 */
export function withChildToolSecretsContext<T>(child: ToolSecretsOwner, fn: () => T): T {
  return frames.run(new ChildFrame(child, frames.getStore()), fn);
}

/** The frame of a child. Most tools never look at their scope, so its public form is made when asked for. */
class ChildFrame implements Frame {
  readonly allowed: readonly string[];
  readonly outer: Frame | undefined;
  readonly #who: Omit<ToolSecretsOwner, 'secretsAllowed'>;
  #context: ToolSecretsContext | undefined;

  constructor(child: ToolSecretsOwner, outer: Frame | undefined) {
    this.allowed = intersect(outer?.allowed, child.secretsAllowed ?? NOTHING);
    this.outer = outer;
    // Read now: the caller may change its object later.
    const { toolName, runId, sessionId, agentId } = child;
    this.#who = { toolName, runId, sessionId, agentId };
  }

  get context(): ToolSecretsContext {
    const { toolName, runId, sessionId, agentId } = this.#who;
    this.#context ??= Object.freeze({
      toolName,
      ...(runId !== undefined && { runId }),
      ...(sessionId !== undefined && { sessionId }),
      ...(agentId !== undefined && { agentId }),
      secretsAllowed: this.allowed,
      ...(this.outer !== undefined && { parent: this.outer.context }),
    });
    return this.#context;
  }
}

/** The active scope, or undefined outside every scope. */
export function getActiveToolSecretsContext(): ToolSecretsContext | undefined {
  return frames.getStore()?.context;
}

/**
 * Throws {@link SecretAccessDeniedError} when the active scope may not read `key`. Outside every
 * scope nothing is restricted. Emits no audit row: the caller knows what it was about to do.
 */
export function enforceSecretAcl(key: string): void {
  const frame = frames.getStore();
  if (frame === undefined || frame.allowed.includes(key)) return;
  throw new SecretAccessDeniedError(key, frame.context.toolName, frame.allowed);
}

/** Whether the active scope may read `key`; true outside every scope. @internal */
export function isSecretAllowed(key: string): boolean {
  const frame = frames.getStore();
  return frame === undefined || frame.allowed.includes(key);
}

function actorOf(context: ToolSecretsOwner): SecretsAuditActor {
  const { toolName, runId, sessionId, agentId } = context;
  return {
    kind: 'tool',
    toolName,
    ...(runId !== undefined && { runId }),
    ...(sessionId !== undefined && { sessionId }),
    ...(agentId !== undefined && { id: agentId }),
  };
}

/** The active scope as an audit actor, or undefined outside every scope. @internal */
export function activeActor(): SecretsAuditActor | undefined {
  const context = frames.getStore()?.context;
  return context === undefined ? undefined : actorOf(context);
}

/**
 * The check behind `ctx.secrets.require`: may `key` be read here? Both the active scope and, when
 * given, the tool the accessor was made for have to allow it, so that an accessor used before its
 * tool runs, or handed to another tool, reaches nothing more than both may read.
 *
 * @returns undefined when it may; otherwise the error to reject with, after exactly one `denied` row
 *   on the secrets audit bus.
 * @internal
 */
export function denyToolSecret(
  key: string,
  owner?: ToolSecretsOwner,
): SecretAccessDeniedError | undefined {
  const frame = frames.getStore();
  let denier: ToolSecretsOwner | undefined;
  let allowed: readonly string[] = [];
  if (frame !== undefined && !frame.allowed.includes(key)) {
    denier = frame.context;
    allowed = frame.allowed;
  } else if (owner !== undefined && !owner.secretsAllowed.includes(key)) {
    denier = owner;
    allowed = owner.secretsAllowed;
  }
  if (denier === undefined) return undefined;
  emitSecretsAudit({
    action: 'secret:get',
    decision: 'denied',
    ts: Date.now(),
    source: 'tool-acl',
    target: key,
    actor: actorOf(denier),
  });
  return new SecretAccessDeniedError(key, denier.toolName, allowed);
}

/**
 * Runs `fn` in the scope that was active when the named tool's own scope opened. Code mode uses it
 * for bridged calls: the meta tool reads no secrets itself, and its empty list must not starve the
 * tools it calls. Only the innermost scope is left, only when it is that tool's, and everything else
 * of the async context stays. In any other scope, or in none, `fn` runs where it is.
 *
 * @internal
 */
export function outsideToolScope<T>(fn: () => T, toolName: string): T {
  const frame = frames.getStore();
  if (frame === undefined || frame.context.toolName !== toolName) return fn();
  return frames.run(frame.outer, fn);
}
