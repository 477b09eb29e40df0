import { incrementCounter } from '../audit/index.js';
import { tool } from '../builder/index.js';
import type { Tool } from '../core/index.js';
import { optional, plainObject, plainValue, text, whole } from '../schema/plain.js';
import { projectToolApi } from './projection.js';
import type { CodeSearchInput, CodeSearchToolOptions } from './types.js';

const DEFAULT_K = 8;
const MAX_K = 25;

/**
 * Makes the tool `code_search`: the model asks for a name or a capability and gets the signatures of
 * matching tools, for use in `code_execute` (spec 03 section 6.3). Tools of the projection come
 * first, then what `searchDeferred` finds, then the names of matching tools that need an approval.
 * When nothing matches, the whole catalogue is the answer.
 *
 * @example createCodeSearchTool({ projection: projectToolApi(registry.listEager()) });
 */
export function createCodeSearchTool(options: CodeSearchToolOptions): Tool<CodeSearchInput, string> {
  return tool<CodeSearchInput, string>({
    name: 'code_search',
    description:
      'Look up the exact call signatures of tools before using them inside code_execute. ' +
      'Pass a tool name or a capability keyword; the answer lists every match with its input and output types.',
    inputSchema: plainObject<CodeSearchInput>(
      {
        query: text('A tool name, or a word for what the tool should do.', 1, 512),
        limit: optional(whole('Most signatures to return.', 1, MAX_K)),
      },
    ),
    outputSchema: plainValue<string>(text()),
    sideEffectClass: 'read-only',
    sandboxPolicy: 'none',
    sensitivity: 'internal',
    tags: ['built-in', 'code-mode'],
    execute: (input: CodeSearchInput) => search(options, input),
  });
}

async function search(options: CodeSearchToolOptions, { query, limit }: CodeSearchInput): Promise<string> {
  const { projection, approvalGatedTools = [], defaultK = DEFAULT_K, maxK = MAX_K } = options;
  const k = Math.min(limit ?? defaultK, maxK);
  const blocks = [projection.search(query, k)];
  if (options.searchDeferred !== undefined) {
    const found = projectToolApi(await options.searchDeferred(query, k));
    blocks.push(found.signaturesFor(found.names));
  }
  incrementCounter('tool.code_mode.search.executed.total');
  const needle = query.toLowerCase();
  const gated = approvalGatedTools
    .filter((name) => name.toLowerCase().includes(needle))
    .map((name) => `${name} - requires approval and must be called directly as a normal tool call, not from code_execute.`);
  const answer = [...blocks, gated.join('\n')].filter((block) => block !== '').join('\n\n');
  return answer === '' ? `No tool matches "${query}". These are available:\n${projection.catalogue}` : answer;
}
