import { incrementCounter } from '../audit/index.js';
import { tool } from '../builder/index.js';
import type { Tool } from '../core/index.js';
import { once } from '../once.js';
import type { ToolRegistry } from '../registry/index.js';
import { anyObject, listOf, oneOf, optional, plainObject, positive, primitive, text } from '../schema/plain.js';

/** What the model passes to `tool_search`. */
export interface ToolSearchInput {
  /** 1 to 1024 characters. */
  query: string;
  /** How many matches at most, 1 to 15. */
  k?: number | undefined;
}

/** One tool that `tool_search` found. */
export interface ToolSearchToolMatch {
  /** Name of the tool. */
  name: string;
  /** What it does, for a model to read. */
  description: string;
  /** JSON Schema. */
  inputSchema: Record<string, unknown>;
  /** 0 to 1. */
  score: number;
  /** The stage that found it. */
  source: 'semantic' | 'bm25' | 'regex-name';
}

/** What `tool_search` returns. */
export interface ToolSearchOutput {
  /** What was found, best first. */
  matches: ToolSearchToolMatch[];
}

/** Options of {@link createToolSearchTool}. */
export interface ToolSearchToolOptions {
  /** Whose deferred tools are searched. */
  readonly registry: ToolRegistry;
  /** Matches when the model does not say. Default 5. */
  readonly defaultK?: number;
  /** Upper bound for both. Default 15; the input schema allows the model no more than that anyway. */
  readonly maxK?: number;
  /** When a found tool can be called; only changes what the description says. Default `next-step`. */
  readonly availability?: 'next-step' | 'next-run';
  /** Drops matches by name, after the search, so that fewer than `k` may remain. */
  readonly excludeTool?: (toolName: string) => boolean;
}

const DEFAULT_K = 5;
const MAX_K = 15;
const MAX_QUERY_LENGTH = 1024;

// Made at first use: every app imports this file, and most never make the tool.
const inputSchema = once(() =>
  plainObject<ToolSearchInput>({ query: text(undefined, 1, MAX_QUERY_LENGTH), k: optional(positive(MAX_K)) }),
);
const outputSchema = once(() =>
  plainObject<ToolSearchOutput>({
    matches: listOf({
      name: text(),
      description: text(),
      inputSchema: anyObject(),
      score: primitive('number'),
      source: oneOf('semantic', 'bm25', 'regex-name'),
    }),
  }),
);

function describe(availability: 'next-step' | 'next-run'): string {
  const when =
    availability === 'next-run'
      ? 'The set of tools is frozen while this run lasts: a match can be called from the NEXT run on.'
      : 'A match can be called from the NEXT step on.';
  return (
    'Searches the deferred-tool catalogue: tools that are not in your list until you find them. ' +
    'Call it before you call a tool you do not know or decide that none fits: say in `query` what the ' +
    `tool should do, and in \`k\` how many matches you want (at most ${MAX_K}). ${when}`
  );
}

/**
 * Makes the `tool_search` tool, with which a model finds the tools that are withheld from it. A
 * search changes nothing: making a match callable is up to the agent.
 *
 * @example registry.register(createToolSearchTool({ registry }), { kind: 'built-in', subsystem: 'tool-discovery' });
 */
export function createToolSearchTool(opts: ToolSearchToolOptions): Tool<ToolSearchInput, ToolSearchOutput> {
  const { registry, defaultK = DEFAULT_K, maxK = MAX_K, availability = 'next-step' } = opts;
  return tool<ToolSearchInput, ToolSearchOutput>({
    name: 'tool_search',
    description: describe(availability),
    inputSchema: inputSchema(),
    outputSchema: outputSchema(),
    sideEffectClass: 'read-only',
    sandboxPolicy: 'none',
    sensitivity: 'public',
    tags: ['built-in', 'tool-discovery'],
    execute: async ({ query, k }) => {
      const found = await registry.searchDeferred(query, Math.min(maxK, k ?? defaultK));
      incrementCounter('tool.retrieval.search.executed.total');
      const matches = found.filter(({ name }) => !opts.excludeTool?.(name));
      return { matches };
    },
  });
}
