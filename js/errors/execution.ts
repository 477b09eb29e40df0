import { brand, GraphorinToolsError, hasBrand } from './base.js';
import { shownName } from './describe.js';

/** One entry of a {@link ToolExecutionAggregateError}. */
export interface ToolExecutionFailure {
  /** Id of the call, as the model gave it. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly toolName: string;
  /** What went wrong. */
  readonly error: unknown;
}

/**
 * Several failed calls as one error, for apps that stop at a failed batch. Nothing in this package
 * throws it. `kind`: `tool-execution-aggregate`.
 */
export class ToolExecutionAggregateError extends GraphorinToolsError {
  /** Name of the class. */
  override readonly name: string = 'ToolExecutionAggregateError';
  /** Frozen copies; the errors inside keep their identity. */
  readonly failures: ReadonlyArray<ToolExecutionFailure>;

  constructor(failures: ReadonlyArray<ToolExecutionFailure>) {
    const calls = failures.map(({ toolName, toolCallId }) => `${shownName(toolName)}#${shownName(toolCallId)}`);
    super('tool-execution-aggregate', `${failures.length} tool execution(s) failed: ${calls.join(', ')}`);
    this.failures = Object.freeze(failures.map((failure) => Object.freeze({ ...failure })));
  }

  /** Like `instanceof`, but true for instances of another copy of this package as well. */
  static override isInstance(value: unknown): value is ToolExecutionAggregateError {
    return hasBrand(value, 'ToolExecutionAggregateError');
  }
}
brand(ToolExecutionAggregateError, 'ToolExecutionAggregateError');
