/**
 * Code mode: a script in a process of its own whose only way out are the tools it is given.
 */

/** One tool call of a script. */
export interface BridgedToolCall {
  readonly name: string;
  readonly args: unknown;
}

/** Options of {@link runBridgedSource}. */
export interface BridgedSourceOptions {
  readonly source: string;
  readonly allowedTools: ReadonlyArray<string>;
  dispatch(call: BridgedToolCall): Promise<unknown>;
  readonly timeoutMs?: number;
  readonly maxMemoryMb?: number;
  readonly noNetwork?: boolean;
  readonly noFilesystem?: boolean;
  readonly signal?: AbortSignal;
  readonly maxToolCalls?: number;
  readonly abortGraceMs?: number;
  readonly warn?: (message: string) => void;
}

/** What a script's run answers. */
export type BridgedSourceResult =
  | { readonly ok: true; readonly output: unknown; readonly toolCalls: number; readonly durationMs: number }
  | {
      readonly ok: false;
      readonly error: {
        readonly kind: 'timeout' | 'sandbox-violation' | 'aborted' | 'execution-failed';
        readonly message: string;
      };
      readonly toolCalls: number;
      readonly durationMs: number;
    };

/** Runs a script with tools. */
export type CodeModeRunner = (options: BridgedSourceOptions) => Promise<BridgedSourceResult>;

/** Placeholder. */
export async function runBridgedSource(_options: BridgedSourceOptions): Promise<BridgedSourceResult> {
  return { ok: false, error: { kind: 'execution-failed', message: 'not built yet' }, toolCalls: 0, durationMs: 0 };
}

/** What {@link runIsolatedSource} is given. @internal */
export interface IsolatedSourceOptions {
  readonly source: string;
  readonly inputJson: string;
  readonly timeoutMs: number;
  readonly maxMemoryMb: number;
  readonly signal?: AbortSignal;
}

/** What {@link runIsolatedSource} answers. @internal */
export type IsolatedSourceResult =
  | { readonly ok: true; readonly output: unknown }
  | {
      readonly ok: false;
      readonly error: {
        readonly kind: 'timeout' | 'memory-exceeded' | 'sandbox-violation' | 'aborted' | 'execution-failed';
        readonly message: string;
      };
    };

/** Placeholder. @internal */
export async function runIsolatedSource(_options: IsolatedSourceOptions): Promise<IsolatedSourceResult> {
  return { ok: false, error: { kind: 'execution-failed', message: 'not built yet' } };
}

/** Placeholder. @internal */
export function sandboxBinaryProblem(): string | undefined {
  return undefined;
}
