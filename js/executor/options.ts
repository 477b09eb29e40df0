/**
 * The first look at what a caller hands over. What is plainly none of it is named here, before a call has
 * a slot, instead of failing somewhere inside.
 *
 * @internal
 */
import type { ToolCall } from '../core/index.js';

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function got(value: unknown): string {
  return `(got ${value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value})`;
}

/** The longest wait the platform's timers take, in milliseconds; for anything longer they take one. */
export const LONGEST_WAIT_MS = 0x7fff_ffff;

const NUMBERS = [
  'cancellationGraceMs',
  'handleProducerTaintCap',
  'imperativeBudgetMs',
  'streamingEventQueueDepth',
  'streamingMaxBufferBytes',
  'inlineToolTimeoutMs',
];
const RETRY_NUMBERS = ['maxAttempts', 'backoffMs'];

function checkNumbers(options: Readonly<Record<string, unknown>>, names: ReadonlyArray<string>, within: string): void {
  for (const name of names) {
    const value = options[name];
    if (value !== undefined && value !== null && typeof value !== 'number') {
      throw new RangeError(`createToolExecutor: '${within}${name}' must be a number ${got(value)}; leave it out for the default.`);
    }
  }
}

/**
 * @throws TypeError without options, or without a registry in them. RangeError when an option that has to
 * be a number is none.
 */
export function checkExecutorOptions(options: unknown): void {
  if (!isObject(options)) {
    throw new TypeError(`createToolExecutor: expects an object with a 'registry' ${got(options)}.`);
  }
  const { registry } = options as { registry?: { get?: unknown } };
  if (typeof registry?.get !== 'function') {
    throw new TypeError(`createToolExecutor: 'registry' must be a tool registry, such as createToolRegistry() makes ${got(registry)}.`);
  }
  checkNumbers(options as Record<string, unknown>, NUMBERS, '');
  const { retry } = options as { retry?: unknown };
  if (isObject(retry)) checkNumbers(retry as Record<string, unknown>, RETRY_NUMBERS, 'retry.');
}

/** @throws TypeError without options, or without a run context in them. */
export function checkRunOptions(method: 'executeOne' | 'executeBatch', options: unknown): void {
  const calls = method === 'executeOne' ? 'call' : 'calls';
  if (!isObject(options)) {
    throw new TypeError(`${method}: expects an object with '${calls}', 'runContext' and 'stepNumber' ${got(options)}.`);
  }
  const { runContext } = options as { runContext?: unknown };
  if (!isObject(runContext)) {
    throw new TypeError(`${method}: 'runContext' must be the context of the run ${got(runContext)}.`);
  }
}

function notACall(where: string, call: unknown): never {
  throw new TypeError(`${where} must be a tool call { toolCallId, toolName, args } ${got(call)}.`);
}

/** The call of `executeOne`. @throws TypeError when it is no object. */
export function callOf(options: { readonly call: ToolCall }): ToolCall {
  const { call } = options;
  return isObject(call) ? call : notACall("executeOne: 'call'", call);
}

/** The calls of `executeBatch`, in a list of our own. @throws TypeError when they are no list of objects. */
export function callsOf(options: { readonly calls: Iterable<ToolCall> }): ToolCall[] {
  const given: Partial<Iterable<ToolCall>> | undefined = options.calls;
  if (typeof given?.[Symbol.iterator] !== 'function' || typeof given === 'string') {
    throw new TypeError(`executeBatch: 'calls' must be a list of tool calls ${got(given)}.`);
  }
  const calls = [...(given as Iterable<ToolCall>)];
  const at = calls.findIndex((call) => !isObject(call));
  return at < 0 ? calls : notACall(`executeBatch: calls[${at}]`, calls[at]);
}
