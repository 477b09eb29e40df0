// Types only: compiled by `npm run test:types`, never run. What must not compile is marked with
// `@ts-expect-error`, which itself fails when the line does compile.
import { createToolExecutor, createToolRegistry, tool } from 'ferrule';
import type { AnyTool, CompletedToolCall, RunContext, Tool, ToolError, ToolExecutionContext, ToolResult, ToolReturn } from 'ferrule/core';
import { toolReturn } from 'ferrule/core';
import * as v from 'valibot';
import { z } from 'zod';
import { z as z3 } from 'zod3';

/** Compiles only when the two types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <_T extends true>(): void => {};
type IsAny<T> = 0 extends 1 & T ? true : false;

// --- inference from zod 4 (spec 01 section 3.2): the parsed output, defaults applied -------------
const four = tool({
  name: 'four',
  description: 'd',
  inputSchema: z.object({ city: z.string(), unit: z.enum(['c', 'f']).default('c'), note: z.string().optional() }),
  outputSchema: z.object({ degrees: z.number() }),
  async execute(input, ctx) {
    same<Same<typeof input.city, string>>();
    same<Same<typeof input.unit, 'c' | 'f'>>();
    same<Same<typeof input.note, string | undefined>>();
    same<Same<typeof ctx.signal, AbortSignal>>();
    return { degrees: 1 };
  },
});
same<Same<IsAny<typeof four>, false>>();

// --- the same from zod 3 --------------------------------------------------------------------------
tool({
  name: 'three',
  description: 'd',
  inputSchema: z3.object({ n: z3.number().default(1), tags: z3.array(z3.string()) }),
  async execute(input) {
    same<Same<typeof input.n, number>>();
    same<Same<typeof input.tags, string[]>>();
    return input.n;
  },
});

// --- and from a library that speaks Standard Schema only ----------------------------------------------
const standard = tool({
  name: 'standard',
  description: 'd',
  inputSchema: v.object({ n: v.optional(v.number(), 1), tags: v.array(v.string()) }),
  outputSchema: v.object({ twice: v.number() }),
  needsApproval: ({ n }) => n > 100,
  async execute(input, ctx) {
    same<Same<typeof input.n, number>>();
    same<Same<typeof input.tags, string[]>>();
    same<Same<typeof ctx.signal, AbortSignal>>();
    return { twice: input.n * 2 };
  },
});
same<Same<IsAny<typeof standard>, false>>();
same<Same<typeof standard, Tool<{ n: number; tags: string[] }, { twice: number }>>>();

// --- the input of the predicates is the same type --------------------------------------------------
tool({
  name: 'predicates',
  description: 'd',
  inputSchema: z.object({ amount: z.number() }),
  needsApproval: ({ amount }) => amount > 100,
  idempotencyKey: ({ amount }) => String(amount),
  async execute({ amount }) {
    return amount;
  },
});

// --- an envelope, and nothing at all, are answers too ------------------------------------------------
tool({
  name: 'envelope',
  description: 'd',
  inputSchema: z.object({}),
  outputSchema: z.object({ ok: z.boolean() }),
  async execute() {
    return toolReturn({ output: { ok: true } });
  },
});
tool({
  name: 'nothing',
  description: 'd',
  inputSchema: z.object({}),
  async execute() {
    return undefined;
  },
});

// --- what must not compile -----------------------------------------------------------------------
tool({
  name: 'wrong',
  description: 'd',
  inputSchema: z.object({ n: z.number() }),
  outputSchema: z.object({ ok: z.boolean() }),
  // @ts-expect-error the output does not fit the schema
  async execute() {
    return { ok: 'yes' };
  },
});
// @ts-expect-error a tool needs a schema for its input
tool({ name: 'bare', description: 'd', execute: async () => 1 });
tool({
  name: 'hint',
  description: 'd',
  inputSchema: z.object({}),
  // @ts-expect-error `false` is no hint: leave it out (spec 01 section 2.3)
  streamingHint: false,
  execute: async () => 1,
});

// --- collections --------------------------------------------------------------------------------
const collection: AnyTool[] = [four, standard];
same<Same<keyof AnyTool, keyof Tool<unknown, unknown>>>();
// @ts-expect-error a typed tool is no Tool<unknown>: its predicates take its own input
const strict: Tool<unknown, unknown> = four;
void strict;

// --- registry and executor ------------------------------------------------------------------------
const registry = createToolRegistry();
for (const one of collection) registry.register(one);
registry.register(four, { kind: 'mcp', serverIdentity: 's' });
// @ts-expect-error an MCP source names its server
registry.register(four, { kind: 'mcp' });

const executor = createToolExecutor({ registry });
declare const runContext: RunContext;
const batch = executor.executeBatch({ calls: [], runContext, stepNumber: 1 });
same<Same<Awaited<typeof batch> extends readonly CompletedToolCall[] ? true : false, true>>();
// @ts-expect-error the step number is required
void executor.executeBatch({ calls: [], runContext });

// --- outcomes are told apart by their keys ---------------------------------------------------------
declare const completed: CompletedToolCall<{ n: number }>;
if ('kind' in completed.outcome) {
  const failure: ToolError = completed.outcome;
  void failure.recoveryHint;
} else {
  const result: ToolResult<{ n: number }> = completed.outcome;
  same<Same<typeof result.output, { n: number }>>();
}

// --- the context's secrets: what is optional may be null ---------------------------------------------
declare const ctx: ToolExecutionContext<{ db: string }>;
same<Same<typeof ctx.runContext.deps, { db: string }>>();
const required = ctx.secrets.require('KEY');
const optional = ctx.secrets.require('KEY', { optional: true });
same<Same<null extends Awaited<typeof required> ? true : false, false>>();
same<Same<null extends Awaited<typeof optional> ? true : false, true>>();

const enveloped: ToolReturn<number> = toolReturn({ output: 1 });
void enveloped;
