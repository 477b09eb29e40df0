import {
  defaultInboundSanitization,
  defaultTruncationStrategy,
  resolveTrustClass,
} from '../builder/index.js';
import { copyTool } from '../builder/own.js';
import {
  isToolReturnEnvelope,
  MODEL_HINTS,
  type ModelHint,
  type ModelSpec,
  type ResolvedTool,
  type SideEffectClass,
  type Tool,
  type ToolSource,
} from '../core/index.js';
import {
  InvalidExampleError,
  InvalidPreferredModelError,
  InvalidSideEffectClassError,
} from '../errors/index.js';
import type { NormaliseOutcome, NormaliseToolOptions, NormaliseWarning } from './types.js';

/** Cap of a tool's result in tokens when its author sets none. */
export const DEFAULT_MAX_RESULT_TOKENS = 16384;

/** More examples than this never reach a model. */
const RENDERED_EXAMPLES = 5;

const SIDE_EFFECT_CLASSES: ReadonlySet<unknown> = new Set<SideEffectClass>([
  'pure',
  'read-only',
  'side-effecting',
  'external-stateful',
]);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Works out what a tool is, given where it comes from: trust class, defaults, what the registry and
 * the executor look at. Pure: no counter, no audit row. Name and description are not checked again.
 *
 * @throws InvalidPreferredModelError, InvalidSideEffectClassError or InvalidExampleError, in this
 * order when several things are wrong.
 *
 * @example normaliseTool(lookup, { kind: 'mcp', serverIdentity: 'linear' }).resolved.__trustClass;
 */
export function normaliseTool<TInput, TOutput, TDeps>(
  tool: Tool<TInput, TOutput, TDeps>,
  source: ToolSource,
  opts: NormaliseToolOptions = {},
): NormaliseOutcome<TInput, TOutput, TDeps> {
  // One read of each property: a getter must not answer the checks and the entry differently.
  const entry = copyTool(tool) as Mutable<ResolvedTool<TInput, TOutput, TDeps>>;
  const toolName = entry.name;
  const trustClass = resolveTrustClass(source);

  const { preferredModel, sideEffectClass: declared } = entry;
  if (preferredModel !== undefined && !isPreferredModel(preferredModel)) {
    throw new InvalidPreferredModelError({ toolName, value: preferredModel });
  }
  if (declared !== undefined && !SIDE_EFFECT_CLASSES.has(declared)) {
    throw new InvalidSideEffectClassError({ toolName, value: declared });
  }
  const fallback = source.kind === 'mcp' ? 'external-stateful' : 'side-effecting';
  const sideEffectClass = declared ?? fallback;
  // Null is not missing here: what is no number never caps, and the author said so.
  const { maxResultTokens = DEFAULT_MAX_RESULT_TOKENS } = entry;
  const hasIdempotencyKey = typeof entry.idempotencyKey === 'function';

  const warnings: NormaliseWarning[] = [];
  if (declared === undefined && source.kind !== 'mcp') {
    warnings.push({ kind: 'classification:missing', toolName });
  }
  const policy = entry.sandboxPolicy;
  if (source.kind === 'first-party' && policy !== undefined && policy !== 'none') {
    warnings.push({ kind: 'sandbox:advisory-inline', toolName, policy });
  }
  if (!hasIdempotencyKey && (sideEffectClass === 'side-effecting' || sideEffectClass === 'external-stateful')) {
    warnings.push({ kind: 'classification:idempotency-key-missing', toolName, sideEffectClass });
  }
  const count = entry.examples?.length ?? 0;
  if (count > RENDERED_EXAMPLES) warnings.push({ kind: 'examples:overflow', toolName, count });
  if (maxResultTokens === 0) warnings.push({ kind: 'result:cap-disabled', toolName });
  if (count > 0) checkExamples(entry);

  const { defer_loading: deferDeclared } = entry;
  const deferredByDefault = opts.deferLoadingByDefault === true && source.kind !== 'built-in';
  const deferred = deferDeclared ?? deferredByDefault;

  // The order of these assignments is the order of the keys that callers see.
  entry.inboundSanitization = entry.inboundSanitization ?? defaultInboundSanitization(trustClass);
  entry.truncationStrategy = entry.truncationStrategy ?? defaultTruncationStrategy(trustClass, toolName);
  entry.maxResultTokens = maxResultTokens;
  if (entry.examplesEagerlyRendered === undefined) {
    const rendered = eagerlyRendered(deferDeclared, deferredByDefault);
    if (rendered !== undefined) entry.examplesEagerlyRendered = rendered;
  }
  entry.sideEffectClass = sideEffectClass;
  entry.__trustClass = trustClass;
  entry.__source = source;
  entry.__effectiveDeferLoading = deferred;
  entry.__sideEffectClass = sideEffectClass;
  entry.__hasIdempotencyKey = hasIdempotencyKey;
  entry.__streamingHint = entry.streamingHint === true;
  entry.__exampleCount = count;
  if (preferredModel !== undefined) entry.__preferredModel = preferredModel;
  return { resolved: Object.freeze(entry), warnings, deferredDefaultApplied: declared === undefined };
}

/** Examples of an eager tool are worth their tokens; whether an undeclared one is, the agent knows. */
function eagerlyRendered(deferDeclared: boolean | undefined, deferredByDefault: boolean): boolean | undefined {
  if (deferDeclared === true) return false;
  if (deferDeclared === false) return true;
  return deferredByDefault ? false : undefined;
}

function isProviderLike(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { name, modelId } = value as { name?: unknown; modelId?: unknown };
  return typeof name === 'string' && typeof modelId === 'string';
}

function isPreferredModel(value: unknown): value is ModelHint | ModelSpec {
  if (typeof value === 'string') return (MODEL_HINTS as readonly string[]).includes(value);
  if (typeof value !== 'object' || value === null) return false;
  if ('provider' in value && 'model' in value) {
    return typeof value.model === 'string' && isProviderLike(value.provider);
  }
  return isProviderLike(value);
}

function checkExamples<I, O, D>(tool: Tool<I, O, D>): void {
  const { name: toolName, inputSchema, outputSchema, examples = [] } = tool;
  examples.forEach((example, exampleIndex) => {
    const input = inputSchema.safeParse(example.input);
    if (!input.success) {
      throw new InvalidExampleError({ toolName, exampleIndex, field: 'input', validationError: input.error });
    }
    if (outputSchema === undefined) return;
    const candidate: unknown = isToolReturnEnvelope(example.output) ? example.output.output : example.output;
    const output = outputSchema.safeParse(candidate);
    if (!output.success) {
      throw new InvalidExampleError({ toolName, exampleIndex, field: 'output', validationError: output.error });
    }
  });
}
