import type { ToolExecutionContext, ToolSource } from '../core/index.js';
import type { CodeModeRunner } from '../sandbox/index.js';

/** What a projection reads of a tool: any tool, resolved or not, satisfies it. */
export interface ProjectableTool {
  /** Name of the tool. */
  readonly name: string;
  /** What it does, for a model to read. */
  readonly description?: string;
  /** Anything `projectSchemaToJsonSchema` of `ferrule/schema` understands; otherwise `unknown`. */
  readonly inputSchema?: unknown;
  /** As `inputSchema`, for what it returns; becomes the type of the promise. */
  readonly outputSchema?: unknown;
  /** Decides the group in the catalogue. */
  readonly __source?: ToolSource;
}

/** Tools as a code API, for a model to read. */
export interface CodeApiProjection {
  /** In input order, duplicates kept. */
  readonly names: string[];
  /** One line a tool, grouped by where the tools come from; empty without tools. */
  readonly catalogue: string;
  /** The signature block of a tool; of the last one when several share the name. */
  signatureFor(name: string): string | undefined;
  /** The blocks of the known names, in the order asked for, joined by blank lines. */
  signaturesFor(names: readonly string[]): string;
  /**
   * The blocks of the tools whose name or description contains the query, case-insensitively, in
   * input order. The empty query matches all.
   *
   * @param limit most tools; default 10, negative counts as 0.
   */
  search(query: string, limit?: number): string;
}

/** A tool found by `searchDeferred`. */
export interface CodeSearchMatch {
  /** Name of the tool. */
  readonly name: string;
  /** What it does, for a model to read. */
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** JSON Schema of the result, when it is known. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
}

/** Options of `createCodeSearchTool`. */
export interface CodeSearchToolOptions {
  /** The tools whose signatures are looked up. */
  readonly projection: CodeApiProjection;
  /** Tools that need an approval and so cannot be called from a script; named, never described. */
  readonly approvalGatedTools?: readonly string[];
  /** Finds tools that are in no projection yet. */
  readonly searchDeferred?: (query: string, k: number) => Promise<ReadonlyArray<CodeSearchMatch>>;
  /** Results when the model names no limit. Default 8. */
  readonly defaultK?: number;
  /** Most results. Default 25. */
  readonly maxK?: number;
}

/** Input of `code_search`. */
export interface CodeSearchInput {
  /** 1 to 512 characters. */
  readonly query: string;
  /** 1 to 25. */
  readonly limit?: number;
}

/** Runs one tool call of a script, with the context of the `code_execute` call it belongs to. */
export type CodeExecuteBridge = (
  call: { readonly name: string; readonly args: unknown },
  ctx: ToolExecutionContext,
) => Promise<unknown>;

/** Limits of one script; what is absent is left to the runner. */
export interface CodeExecuteLimits {
  /** Wall clock in milliseconds. */
  readonly timeoutMs?: number;
  /** Memory in MiB. */
  readonly maxMemoryMb?: number;
  /** Tool calls a script may make. */
  readonly maxToolCalls?: number;
}

/** Input of `code_execute`. */
export interface CodeExecuteInput {
  /** The body of an async function, 1 to 100,000 characters. */
  readonly source: string;
}

/** Options of `createCodeExecuteTool`. */
export interface CodeExecuteToolOptions {
  /** Its catalogue becomes part of the description. */
  readonly projection: CodeApiProjection;
  /** The names a script may call. */
  readonly allowedTools: readonly string[];
  /** Runs one call, normally through the executor so that it is governed like a direct one. */
  readonly executeTool: CodeExecuteBridge;
  /** Limits of each script. Absent: those of the sandbox. */
  readonly limits?: CodeExecuteLimits;
  /** Runs the script. Default `runBridgedSource` of `ferrule/sandbox`. */
  readonly run?: CodeModeRunner;
  /** Tools the description says must be called directly. */
  readonly approvalGatedTools?: readonly string[];
}
