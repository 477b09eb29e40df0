import type { ToolSource } from '../core/index.js';
import { projectSchemaToJsonSchema } from '../schema/index.js';
import { read } from '../schema/read.js';
import { Aliases } from './references.js';
import { TypeRenderer } from './signature.js';
import type { CodeApiProjection, ProjectableTool } from './types.js';

const NO_DESCRIPTION = '(no description)';
/** Longest summary in the catalogue, in UTF-16 units. */
const SUMMARY_LENGTH = 120;

interface Projected {
  readonly name: string;
  readonly label: string;
  readonly description: string | undefined;
  block(): string;
}

/**
 * Shows tools as a code API (spec 03 section 6.2): a catalogue with one line a tool, and typed
 * signatures on demand. Nothing is filtered: leave out what a script must not see.
 *
 * A signature block is a comment with the description and one line such as
 * `tools.find = (input: { "q": string; "limit"?: number }): Promise<string[]>`; names that are no
 * identifiers are reached as `tools["a.b"]`. Types that contain themselves are named, their
 * definitions follow as `type …;` lines. Inputs show what a caller has to give, outputs what he gets.
 *
 * @example
 * const api = projectToolApi(registry.listEager());
 * api.search('weather'); // the signatures of the tools that mention it
 */
export function projectToolApi(tools: ReadonlyArray<ProjectableTool>): CodeApiProjection {
  const projected = [...tools].map(projectTool);
  const byName = new Map(projected.map((tool) => [tool.name, tool]));
  const signatureFor = (name: string): string | undefined => byName.get(name)?.block();
  return {
    names: projected.map(({ name }) => name),
    catalogue: catalogue(projected),
    signatureFor,
    signaturesFor: (names) =>
      names
        .map(signatureFor)
        .filter((block) => block !== undefined)
        .join('\n\n'),
    search: (query, limit = 10) => {
      const needle = query.toLowerCase();
      return projected
        .filter(({ name, description = '' }) => [name, description].some((text) => text.toLowerCase().includes(needle)))
        .slice(0, Math.max(0, limit))
        .map((tool) => tool.block())
        .join('\n\n');
    },
  };
}

function projectTool(tool: ProjectableTool): Projected {
  const { name, description, inputSchema, outputSchema } = tool;
  let block: string | undefined;
  return {
    name,
    description,
    label: sourceLabel(tool.__source),
    block: () => (block ??= signatureBlock(name, description, inputSchema, outputSchema)),
  };
}

function sourceLabel(source: ToolSource | undefined): string {
  switch (source?.kind) {
    case 'first-party':
      return 'first-party';
    case 'built-in':
      return `built-in:${source.subsystem}`;
    case 'skill':
      return `skill:${source.skillName}`;
    case 'mcp':
      return `mcp:${source.serverIdentity}`;
    case 'web-search':
      return `web-search:${source.providerName}`;
    default:
      return 'tools';
  }
}

function collapse(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function catalogue(tools: readonly Projected[]): string {
  const groups = new Map<string, string[]>();
  for (const { name, label, description } of tools) {
    const line = `- ${name}: ${summary(description)}`;
    const group = groups.get(collapse(label));
    if (group === undefined) groups.set(collapse(label), [line]);
    else group.push(line);
  }
  // The default order of `sort` is the order of code units.
  return [...groups.keys()]
    .sort()
    .flatMap((label) => [`## ${label}`, ...(groups.get(label) ?? [])])
    .join('\n');
}

/** The first sentence of a description, on one line. */
function summary(description: string | undefined): string {
  if (description === undefined || description === '') return NO_DESCRIPTION;
  const text = collapse(description);
  const end = text.indexOf('. ');
  const sentence = end === -1 ? text : text.slice(0, end + 1);
  if (sentence.length <= SUMMARY_LENGTH) return sentence;
  return `${wellFormedCut(sentence, SUMMARY_LENGTH - 3)}...`;
}

/** At most `length` units, not ending in half a surrogate pair. */
function wellFormedCut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

function signatureBlock(
  name: string,
  description: string | undefined,
  inputSchema: unknown,
  outputSchema: unknown,
): string {
  const aliases = new Aliases();
  const access = IDENTIFIER.test(name) ? `tools.${name}` : `tools[${JSON.stringify(name)}]`;
  const input = typeOf(inputSchema, 'Input', aliases);
  const output = typeOf(outputSchema, 'Output', aliases);
  // A description may come from a stranger: it must not be able to end the comment it stands in.
  const comment = collapse(description ?? NO_DESCRIPTION).replaceAll('*/', '*\\/');
  return [`/** ${comment} */`, `${access} = (input: ${input}): Promise<${output}>`, ...aliases.lines()].join('\n');
}

/** What a schema takes, also of an output: results are checked and passed on as they are, without defaults or transforms. */
function typeOf(schema: unknown, fallback: string, aliases: Aliases): string {
  const json = projectSchemaToJsonSchema(schema);
  if (json === undefined) return 'unknown';
  const title = read(json, 'title');
  return new TypeRenderer(json, typeof title === 'string' && title !== '' ? title : fallback, aliases).renderRoot();
}
