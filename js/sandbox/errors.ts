import { GraphorinSecretsError, type GraphorinSecretsErrorOptions } from '../errors/security-base.js';

/**
 * The base of the sandbox errors. The adapters themselves never throw these: they answer
 * `{ ok: false }`; the classes are for code that picks, requires or forbids a sandbox.
 */
export abstract class GraphorinSandboxError extends GraphorinSecretsError {
  protected constructor(kind: string, message: string, options?: GraphorinSecretsErrorOptions) {
    super(kind, message, options);
  }
}

/** A sandbox of a kind that nobody registered was asked for. */
export class UnsupportedSandboxKindError extends GraphorinSandboxError {
  /** The kind that was asked for. */
  readonly requested: string;
  /** The kinds there are, in the order they were given; a frozen copy. */
  readonly available: ReadonlyArray<string>;

  constructor(requested: string, available: ReadonlyArray<string>) {
    const known = available.length > 0 ? available.join(', ') : '(none registered)';
    super('unsupported-sandbox-kind', `sandbox kind '${requested}' is not supported; available: ${known}`);
    this.requested = requested;
    this.available = Object.freeze([...available]);
  }
}

/** A sandbox needs a package that is not installed. Its `hint` is the install command. */
export class SandboxPeerUnavailableError extends GraphorinSandboxError {
  /** The sandbox adapter. */
  readonly adapter: string;
  /** The missing package. */
  readonly peer: string;
  /** The command that installs it. */
  readonly installCommand: string;

  constructor(adapter: string, peer: string, installCommand: string, options: { readonly cause?: unknown } = {}) {
    super('sandbox-peer-unavailable', `sandbox '${adapter}' needs the package '${peer}', which could not be loaded`, {
      ...('cause' in options ? { cause: options.cause } : {}),
      hint: installCommand,
    });
    this.adapter = adapter;
    this.peer = peer;
    this.installCommand = installCommand;
  }
}

/** Someone tried to relax the sandbox that a trust tier makes mandatory. */
export class MandatorySandboxOverrideError extends GraphorinSandboxError {
  /** The trust tier. */
  readonly tier: string;
  /** What was asked for. */
  readonly attempted: string;
  /** What the tier demands. */
  readonly mandated: string;

  constructor(tier: string, attempted: string, mandated: string) {
    super('mandatory-sandbox-override', `trust tier '${tier}' demands '${mandated}'; '${attempted}' is refused`);
    this.tier = tier;
    this.attempted = attempted;
    this.mandated = mandated;
  }
}

/** Sandboxed code reached for the file system. */
export class SandboxFsAccessDeniedError extends GraphorinSandboxError {
  /** What it reached for. Absent when unknown. */
  declare readonly attemptedPath?: string;

  constructor(attemptedPath?: string) {
    super('sandbox-fs-access-denied', withTarget('filesystem access denied by the sandbox', attemptedPath));
    if (attemptedPath !== undefined) this.attemptedPath = attemptedPath;
  }
}

/** Sandboxed code reached for the network. */
export class SandboxNetworkAccessDeniedError extends GraphorinSandboxError {
  /** What it reached for. Absent when unknown. */
  declare readonly attemptedHost?: string;

  constructor(attemptedHost?: string) {
    super('sandbox-network-access-denied', withTarget('network access denied by the sandbox', attemptedHost));
    if (attemptedHost !== undefined) this.attemptedHost = attemptedHost;
  }
}

function withTarget(text: string, target: string | undefined): string {
  return target === undefined ? text : `${text}: ${target}`;
}
