import { incrementCounter } from '../audit/index.js';
import { tool } from '../builder/index.js';
import type { Tool, ToolExecutionContext } from '../core/index.js';
import { runBridgedSource } from '../sandbox/index.js';
import { plainObject, plainValue, text } from '../schema/plain.js';
import { CODE_EXECUTE, outsideMetaToolScope } from './scope.js';
import type { CodeExecuteInput, CodeExecuteToolOptions } from './types.js';

/**
 * Makes the tool `code_execute`: the model writes the body of an async JavaScript function that calls
 * tools and returns one answer; what lies between stays out of the conversation (spec 03 section 6.4).
 *
 * The script runs in the sandbox of `ferrule/sandbox` unless `run` says otherwise. Every tool call of
 * the script goes through `executeTool`, which gets the context of the `code_execute` call. A script
 * that fails makes `execute` reject with an `Error` that reads `code_execute failed (<kind>): <message>`.
 *
 * @example
 * createCodeExecuteTool({
 *   projection,
 *   allowedTools: projection.names,
 *   executeTool: async ({ name, args }, ctx) => runThroughExecutor(name, args, ctx),
 * });
 */
export function createCodeExecuteTool(options: CodeExecuteToolOptions): Tool<CodeExecuteInput, string> {
  return tool<CodeExecuteInput, string>({
    name: CODE_EXECUTE,
    description: describeTool(options),
    inputSchema: plainObject<CodeExecuteInput>({ source: text('JavaScript: the body of an async function.', 1, 100_000) }),
    outputSchema: plainValue<string>(text()),
    sideEffectClass: 'side-effecting',
    sandboxPolicy: 'none',
    sensitivity: 'internal',
    truncationStrategy: 'spill-to-file',
    tags: ['built-in', 'code-mode'],
    execute: (input: CodeExecuteInput, ctx: ToolExecutionContext) => execute(options, input, ctx),
  });
}

async function execute(
  options: CodeExecuteToolOptions,
  input: CodeExecuteInput,
  ctx: ToolExecutionContext,
): Promise<string | undefined> {
  const { timeoutMs, maxMemoryMb, maxToolCalls } = options.limits ?? {};
  const run = options.run ?? runBridgedSource;
  const result = await run({
    source: input.source,
    allowedTools: options.allowedTools,
    dispatch: (call) => outsideMetaToolScope(() => options.executeTool(call, ctx)),
    signal: ctx.signal,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(maxMemoryMb === undefined ? {} : { maxMemoryMb }),
    ...(maxToolCalls === undefined ? {} : { maxToolCalls }),
  });
  incrementCounter('tool.code_mode.execute.executed.total');
  incrementCounter('tool.code_mode.tool_calls.total', {}, result.toolCalls);
  if (!result.ok) throw new Error(`code_execute failed (${result.error.kind}): ${result.error.message}`);
  return asText(result.output);
}

/** Text for the model: a string as it is, anything else as indented JSON; undefined stays undefined. */
function asText(output: unknown): string | undefined {
  if (typeof output === 'string') return output;
  try {
    return JSON.stringify(output, null, 2);
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n', 1)[0] ?? '') : String(cause);
    throw new Error(
      `code_execute failed (execution-failed): the returned value cannot be written as JSON (${reason}); ` +
        'return strings instead of BigInts and no cycles',
      { cause },
    );
  }
}

function describeTool({ projection, approvalGatedTools = [] }: CodeExecuteToolOptions): string {
  const parts = [
    'Run JavaScript that calls tools. Write the body of an async function: call tools with ' +
      '`await tools.NAME(args)`, or `await tools["NAME"](args)` when the name has dots or dashes, and ' +
      '`return` the final answer, which must be JSON-serialisable. Only what you return comes back; ' +
      'intermediate results stay inside. Arguments and results of tools must be serialisable too. ' +
      'Network and file system are blocked (best effort), and `process.env` is empty. ' +
      'Use code_search for the exact signatures.',
    [
      'Example:',
      'const page = await tools["orders.list"]({ limit: 50 });',
      'const open = page.items.filter((order) => order.status === "open");',
      'return { open: open.length };',
    ].join('\n'),
    projection.catalogue,
  ];
  if (approvalGatedTools.length > 0) {
    parts.push(
      [
        'NOT callable from code_execute (each requires approval; call it directly as a normal tool call):',
        ...approvalGatedTools.map((name) => `  ${name}`),
      ].join('\n'),
    );
  }
  return parts.filter((part) => part !== '').join('\n\n');
}
