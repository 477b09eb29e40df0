import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Tool, ToolExample, ToolExecutionContext, ToolReturn, ZodLikeSchema } from '../core/index.js';
import { shownName } from '../errors/describe.js';
import { copyTool } from './own.js';

/** What {@link tool} takes: a {@link Tool} whose `execute` is a function property. */
export interface ToolSpec<TInput = unknown, TOutput = unknown, TDeps = unknown>
  extends Omit<Tool<TInput, TOutput, TDeps>, 'execute'> {
  /** Does the work. May throw: the call then fails with what was thrown. */
  readonly execute: (
    input: TInput,
    ctx: ToolExecutionContext<TDeps>,
  ) => Promise<TOutput | ToolReturn<TOutput> | undefined>;
}

/** A schema of zod, or of any library that speaks Standard Schema (valibot, ArkType, …). */
export type ToolSchema<T> = ZodLikeSchema<T> | StandardSchemaV1<unknown, T>;

/** {@link ToolSpec} with schemas of any library. */
export interface AnySchemaToolSpec<TInput, TOutput, TDeps>
  extends Omit<ToolSpec<TInput, TOutput, TDeps>, 'inputSchema' | 'outputSchema' | 'examples'> {
  /** Validates the model's arguments; the tool's input type is its output, defaults applied. */
  readonly inputSchema: ToolSchema<TInput>;
  /** Checks the output; its transforms are not applied. */
  readonly outputSchema?: ToolSchema<TOutput>;
  /** Worked examples. Their inputs are checked against the schema's type and have no say in it. */
  readonly examples?: readonly ToolExample<Told<TInput>, TOutput>[];
}

/**
 * The same type, from which nothing is inferred: the text `'celsius'` of an example would make a plain
 * `string` of the choices a schema declares. `NoInfer` is it by name, from TypeScript 5.4 on only.
 */
type Told<T> = [T][T extends unknown ? 0 : never];

const NAME_PATTERN = /^[A-Za-z0-9._-]+$/;
const MAX_NAME_LENGTH = 128;

/**
 * Declares a tool: checks what cannot be left to later and returns a frozen copy. Nothing is filled
 * in; defaults are the registry's, which knows the tool's source. The input type comes from
 * `inputSchema` (its parsed output), the output type from `outputSchema` or `execute`.
 *
 * @throws TypeError when `name` is not 1 to 128 characters of `[A-Za-z0-9._-]`, `description` is
 * empty, `inputSchema` is missing or `execute` is not a function.
 *
 * @example
 * const weather = tool({
 *   name: 'weather.lookup',
 *   description: 'Current weather of a city.',
 *   inputSchema: z.object({ city: z.string() }),
 *   sideEffectClass: 'read-only',
 *   execute: async ({ city }) => ({ city, celsius: 21 }),
 * });
 */
export function tool<TInput, TOutput, TDeps = unknown>(
  spec: AnySchemaToolSpec<TInput, TOutput, TDeps>,
): Tool<TInput, TOutput, TDeps> {
  if (typeof spec !== 'object' || spec === null) {
    throw new TypeError(`tool({...}): expects an object that declares the tool (got ${spec === null ? 'null' : typeof spec}).`);
  }
  const { name } = spec;
  if (typeof name !== 'string' || name === '') {
    throw new TypeError("tool({...}): 'name' must be a non-empty string.");
  }
  const fail = (problem: string): never => {
    throw new TypeError(`tool({ name: '${shownName(name)}' }): ${problem}`);
  };
  if (name.length > MAX_NAME_LENGTH) {
    fail(`'name' must be at most ${MAX_NAME_LENGTH} characters (got ${name.length}).`);
  }
  if (!NAME_PATTERN.test(name)) fail(`'name' must match ${NAME_PATTERN}.`);
  const { description, inputSchema, execute } = spec;
  if (typeof description !== 'string' || description === '') {
    fail("'description' must be a non-empty string.");
  }
  if (inputSchema === undefined || inputSchema === null) {
    fail("'inputSchema' is required; a tool that takes no input declares z.object({}).");
  }
  if (typeof execute !== 'function') fail("'execute' must be an async function.");
  // The executor takes either kind of schema; the contract names the one with `safeParse`.
  return Object.freeze(copyTool(spec as ToolSpec<TInput, TOutput, TDeps>));
}
