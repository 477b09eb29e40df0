// Types only: raw JSON Schema and code mode, as a caller writes them.
import { createCodeExecuteTool, createCodeSearchTool, projectToolApi } from 'ferrule/code-mode';
import type { CodeApiProjection, CodeExecuteInput, CodeSearchInput } from 'ferrule/code-mode';
import type { Tool, ZodLikeSchema } from 'ferrule/core';
import { tool } from 'ferrule';
import { runBridgedSource } from 'ferrule/sandbox';
import type { CodeModeRunner } from 'ferrule/sandbox';
import { type JsonSchemaRecord, jsonSchema, projectSchemaToJsonSchema, zodToJsonSchema } from 'ferrule/schema';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { z } from 'zod';
import { z as z3 } from 'zod3';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <_T extends true>(): void => {};

// --- a raw schema is a schema of either kind, its type given by the caller or unknown -------------
const typed = jsonSchema<{ city: string }>({ type: 'object' });
const asLike: ZodLikeSchema<{ city: string }> = typed;
const asStandard: StandardSchemaV1<unknown, { city: string }> = typed;
same<Same<ReturnType<typeof typed.parse>, { city: string }>>();
same<Same<ReturnType<ReturnType<typeof jsonSchema>['parse']>, unknown>>();
void [asLike, asStandard];

tool({
  name: 'raw',
  description: 'd',
  inputSchema: typed,
  execute: async (input) => {
    same<Same<typeof input, { city: string }>>();
    return 1;
  },
});

// --- projections take anything -----------------------------------------------------------------------
same<Same<ReturnType<typeof projectSchemaToJsonSchema>, JsonSchemaRecord | undefined>>();
const reports: string[] = [];
zodToJsonSchema(z.string(), { onUnsupported: (detail) => reports.push(detail), side: 'output' });
// @ts-expect-error there are two sides
zodToJsonSchema(z3.string(), { side: 'both' });

// --- code mode ------------------------------------------------------------------------------------------
const projection: CodeApiProjection = projectToolApi([
  { name: 'a', inputSchema: z.string() },
  tool({ name: 'b', description: 'd', inputSchema: z3.object({ q: z3.string() }), execute: async () => 1 }),
]);
const search: Tool<CodeSearchInput, string> = createCodeSearchTool({ projection });
const mine: CodeModeRunner = runBridgedSource;
const execute: Tool<CodeExecuteInput, string> = createCodeExecuteTool({
  projection,
  allowedTools: projection.names,
  executeTool: async ({ name, args }, ctx) => [name, args, ctx.signal],
  run: mine,
});
void [search, execute];
