import { brand, GraphorinToolsError, hasBrand } from './base.js';
import { describeValidation, describeValue, shownName } from './describe.js';

/** A second first-party tool under a name that is taken. `kind`: `duplicate-tool-name`. */
export class DuplicateToolNameError extends GraphorinToolsError {
  /** Name of the class. */
  override readonly name: string = 'DuplicateToolNameError';
  /** The name that two tools have. */
  readonly toolName: string;

  constructor(toolName: string) {
    super('duplicate-tool-name', `Duplicate tool name "${shownName(toolName)}": a first-party tool already has it.`, {
      hint:
        'Rename one of the tools, or register the second under its own source and let ' +
        'assertNoDuplicates(strategy, ctx) settle the collision.',
    });
    this.toolName = toolName;
  }

  /** Like `instanceof`, but true for instances of another copy of this package as well. */
  static override isInstance(value: unknown): value is DuplicateToolNameError {
    return hasBrand(value, 'DuplicateToolNameError');
  }
}
brand(DuplicateToolNameError, 'DuplicateToolNameError');

/**
 * An example that its tool's own schema refuses. `kind`: `invalid-example`; `cause` is the
 * validation error.
 */
export class InvalidExampleError extends GraphorinToolsError {
  /** Name of the class. */
  override readonly name: string = 'InvalidExampleError';
  /** Name of the tool. */
  readonly toolName: string;
  /** Position in `examples`, from 0. */
  readonly exampleIndex: number;
  /** Which side of the example does not fit. */
  readonly field: 'input' | 'output';
  /** The `error` that `safeParse` returned. */
  readonly validationError: unknown;

  constructor(args: {
    readonly toolName: string;
    readonly exampleIndex: number;
    readonly field: 'input' | 'output';
    readonly validationError: unknown;
  }) {
    const { toolName, exampleIndex, field, validationError } = args;
    super(
      'invalid-example',
      `Tool "${shownName(toolName)}": example #${exampleIndex} failed ${field}-schema validation: ` +
        describeValidation(validationError),
      {
        hint: `Correct the example's ${field}, or the ${field}Schema it has to satisfy.`,
        cause: validationError,
      },
    );
    this.toolName = toolName;
    this.exampleIndex = exampleIndex;
    this.field = field;
    this.validationError = validationError;
  }

  /** Like `instanceof`, but true for instances of another copy of this package as well. */
  static override isInstance(value: unknown): value is InvalidExampleError {
    return hasBrand(value, 'InvalidExampleError');
  }
}
brand(InvalidExampleError, 'InvalidExampleError');

/** A `preferredModel` that is neither a tier nor a model. `kind`: `invalid-preferred-model`. */
export class InvalidPreferredModelError extends GraphorinToolsError {
  /** Name of the class. */
  override readonly name: string = 'InvalidPreferredModelError';
  /** Name of the tool. */
  readonly toolName: string;
  /** What was declared. */
  readonly value: unknown;

  constructor(args: { readonly toolName: string; readonly value: unknown }) {
    super(
      'invalid-preferred-model',
      `Tool "${shownName(args.toolName)}" declares preferredModel: ${describeValue(args.value)}; ` +
        "expected 'fast' | 'balanced' | 'smart' or a ModelSpec.",
      { hint: 'Name a tier, a provider with name and modelId, or { provider, model }.' },
    );
    this.toolName = args.toolName;
    this.value = args.value;
  }

  /** Like `instanceof`, but true for instances of another copy of this package as well. */
  static override isInstance(value: unknown): value is InvalidPreferredModelError {
    return hasBrand(value, 'InvalidPreferredModelError');
  }
}
brand(InvalidPreferredModelError, 'InvalidPreferredModelError');

/** A `sideEffectClass` outside the four. `kind`: `invalid-side-effect-class`. */
export class InvalidSideEffectClassError extends GraphorinToolsError {
  /** Name of the class. */
  override readonly name: string = 'InvalidSideEffectClassError';
  /** Name of the tool. */
  readonly toolName: string;
  /** What was declared. */
  readonly value: unknown;

  constructor(args: { readonly toolName: string; readonly value: unknown }) {
    super(
      'invalid-side-effect-class',
      `Tool "${shownName(args.toolName)}" declares sideEffectClass: ${describeValue(args.value)}; ` +
        "expected 'pure' | 'read-only' | 'side-effecting' | 'external-stateful'.",
      { hint: 'Pick the side-effect classification that says what running the tool changes.' },
    );
    this.toolName = args.toolName;
    this.value = args.value;
  }

  /** Like `instanceof`, but true for instances of another copy of this package as well. */
  static override isInstance(value: unknown): value is InvalidSideEffectClassError {
    return hasBrand(value, 'InvalidSideEffectClassError');
  }
}
brand(InvalidSideEffectClassError, 'InvalidSideEffectClassError');

/** A collision the strategy does not settle. `kind`: `tool-collision`. */
export class ToolCollisionError extends GraphorinToolsError {
  /** Name of the class. */
  override readonly name: string = 'ToolCollisionError';
  /** The name that several tools have. */
  readonly toolName: string;
  /** The sources in the order they registered, as text. Frozen. */
  readonly conflictingSources: ReadonlyArray<string>;
  /** The strategy under which it was found. */
  readonly strategyAttempted: string;

  constructor(args: {
    readonly toolName: string;
    readonly conflictingSources: ReadonlyArray<string>;
    readonly strategyAttempted: string;
    readonly resolutionOptions: ReadonlyArray<string>;
  }) {
    const sources = args.conflictingSources;
    super(
      'tool-collision',
      `Tool name "${shownName(args.toolName)}" is claimed by ${sources.length} sources (${sources.join(', ')}) ` +
        `and strategy '${args.strategyAttempted}' leaves it to you.`,
      { hint: `Choose one of: ${args.resolutionOptions.join(', ')}.` },
    );
    this.toolName = args.toolName;
    this.conflictingSources = Object.freeze([...sources]);
    this.strategyAttempted = args.strategyAttempted;
  }

  /** Like `instanceof`, but true for instances of another copy of this package as well. */
  static override isInstance(value: unknown): value is ToolCollisionError {
    return hasBrand(value, 'ToolCollisionError');
  }
}
brand(ToolCollisionError, 'ToolCollisionError');
