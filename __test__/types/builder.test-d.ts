// Types only: what the builder infers, and what the registry, the errors and the audit bus promise.
import { z } from 'zod';
import { z as z3 } from 'zod3';
import { onToolAudit, snapshotCounters, type ToolAuditAction } from 'ferrule/audit';
import { createToolSearchTool, type ToolSearchInput, type ToolSearchOutput } from 'ferrule/built-in';
import { tool, type ToolSpec } from 'ferrule/builder';
import type { AnyTool, ResolvedTool, Tool, ToolReturn } from 'ferrule/core';
import { DuplicateToolNameError, GraphorinToolsError } from 'ferrule/errors';
import {
  createToolRegistry,
  normaliseTool,
  type CollisionResolution,
  type NormaliseWarning,
  type RegistryEntry,
  type ToolSearchMatch,
} from 'ferrule/registry';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <_T extends true>(): void => {};
type InputOf<T> = T extends Tool<infer I, infer _O, infer _D> ? I : never;
type OutputOf<T> = T extends Tool<infer _I, infer O, infer _D> ? O : never;

// --- 3.2: input and output of the declared tool ------------------------------------------------------
const four = tool({
  name: 'four',
  description: 'd',
  inputSchema: z.object({ a: z.string().transform((text) => text.length), b: z.number().default(1) }),
  outputSchema: z.object({ sum: z.number() }),
  execute: async ({ a, b }) => ({ sum: a + b }),
});
same<Same<InputOf<typeof four>, { a: number; b: number }>>();
same<Same<OutputOf<typeof four>, { sum: number }>>();

const three = tool({
  name: 'three',
  description: 'd',
  inputSchema: z3.object({ a: z3.string(), b: z3.number().default(1) }),
  execute: async ({ a, b }) => `${a}${b}`,
});
same<Same<InputOf<typeof three>, { a: string; b: number }>>();
same<Same<OutputOf<typeof three>, string>>();

// --- the schema alone decides the input's type; an example is checked against it ---------------------------
const chosen = tool({
  name: 'chosen',
  description: 'd',
  inputSchema: z.object({ unit: z.enum(['celsius', 'fahrenheit']) }),
  examples: [{ input: { unit: 'celsius' }, output: 1 }],
  execute: async ({ unit: asked }) => asked.length,
});
same<Same<InputOf<typeof chosen>, { unit: 'celsius' | 'fahrenheit' }>>();
const chosen3 = tool({
  name: 'chosen',
  description: 'd',
  inputSchema: z3.object({ unit: z3.enum(['celsius', 'fahrenheit']) }),
  // @ts-expect-error none of the choices
  examples: [{ input: { unit: 'kelvin' }, output: 1 }],
  execute: async ({ unit: asked }) => asked.length,
});
same<Same<InputOf<typeof chosen3>, { unit: 'celsius' | 'fahrenheit' }>>();
/** A wrapper of the user's own, generic as `tool()` is. */
const wrapped = <I, O, D>(spec: ToolSpec<I, O, D>): Tool<I, O, D> => tool(spec);
wrapped({ ...chosen, name: 'wrapped', execute: async (input: { unit: 'celsius' | 'fahrenheit' }) => input.unit.length });

// --- a schema without a library ------------------------------------------------------------------------
const plain = tool({
  name: 'plain',
  description: 'd',
  inputSchema: {
    parse: (data: unknown) => data as { id: string },
    safeParse: (data: unknown) => ({ success: true as const, data: data as { id: string } }),
  },
  execute: async ({ id }) => id.length,
});
same<Same<InputOf<typeof plain>, { id: string }>>();

// --- the spec's execute is a property, so its parameters are checked -----------------------------------------
type Execute = ToolSpec<{ a: number }, string>['execute'];
same<Same<ReturnType<Execute>, Promise<string | ToolReturn<string> | undefined>>>();
// @ts-expect-error the spec is required
tool();
// @ts-expect-error one argument only
tool({ name: 'n', description: 'd', inputSchema: z.object({}), execute: async () => 1 }, async () => 1);
tool({
  name: 'n',
  description: 'd',
  inputSchema: z.object({}),
  // @ts-expect-error not one of the four classes
  sideEffectClass: 'dangerous',
  execute: async () => 1,
});
// @ts-expect-error results of tool() are not for changing
four.name = 'other';

// --- the registry keeps types ------------------------------------------------------------------------------
const registry = createToolRegistry();
const entry = registry.register(four);
same<Same<typeof entry, RegistryEntry<{ a: number; b: number }, { sum: number }, unknown>>>();
const found = registry.get<{ a: number }, string>('four');
same<Same<typeof found, RegistryEntry<{ a: number }, string> | undefined>>();
same<Same<ReturnType<typeof registry.list>, ReadonlyArray<ResolvedTool>>>();
const all: AnyTool[] = [four, three, plain];
for (const each of all) registry.register(each);
const { resolved, warnings } = normaliseTool(three, { kind: 'first-party' });
same<Same<typeof resolved, ResolvedTool<{ a: string; b: number }, string, unknown>>>();
same<Same<(typeof warnings)[number], NormaliseWarning>>();

// --- 6.5: with a strategy comes a context, and a list -----------------------------------------------------------
const nothing: void = registry.assertNoDuplicates();
void nothing;
const resolutions = registry.assertNoDuplicates('priority', { source: { kind: 'first-party' } });
same<Same<typeof resolutions, ReadonlyArray<CollisionResolution>>>();
for (const each of resolutions) {
  if (each.action === 'auto-prefix-applied') same<Same<typeof each.renamed.to, string>>();
  // @ts-expect-error only a rename has names
  else each.renamed;
}
// @ts-expect-error a strategy without a context
registry.assertNoDuplicates('priority');
// @ts-expect-error no such strategy
registry.assertNoDuplicates('rename', { source: { kind: 'first-party' } });

const searching = registry.searchDeferred('x', 3);
same<Same<typeof searching, Promise<ReadonlyArray<ToolSearchMatch>>>>();
same<Same<ReturnType<typeof registry.fingerprint>, string | undefined>>();
registry.drift(Object.fromEntries(registry.list().map(({ name }) => [name, registry.fingerprint(name)])));

// --- tool_search shows no zod type ----------------------------------------------------------------------------
const searchTool = createToolSearchTool({ registry });
same<Same<typeof searchTool, Tool<ToolSearchInput, ToolSearchOutput>>>();

// --- errors narrow, listeners know the actions -------------------------------------------------------------------
declare const error: unknown;
if (DuplicateToolNameError.isInstance(error)) same<Same<typeof error, DuplicateToolNameError>>();
if (error instanceof GraphorinToolsError) same<Same<typeof error.kind, string>>();
onToolAudit((event) => same<Same<typeof event.action, ToolAuditAction>>());
// @ts-expect-error snapshots are frozen
snapshotCounters().counters['a'] = 1;
