/**
 * `ferrule/inspect`: the seam for an injection classifier of your own.
 *
 * @packageDocumentation
 */

/** Where a text is on its way to. */
export type InjectionClassifierSurface = 'tool-inbound' | 'assistant-output' | 'memory-write';
/** What a classifier is asked about. */
export interface InjectionClassifierInput {
  /** The text. */
  readonly text: string;
  /** Where it stands: in a tool's result, in the model's answer and so on. */
  readonly surface: InjectionClassifierSurface;
  /** Where the text comes from; absent when nobody knows. */
  readonly origin?: string;
}
/** What it answers. */
export interface InjectionClassification {
  /** Whether the text tries to steer the model. */
  readonly flagged: boolean;
  /** From 0 to 1, as the classifier has it. */
  readonly score?: number;
  /** What kinds of attempt, in the classifier's words. */
  readonly labels?: readonly string[];
}
/** A classifier: a model, a service, a rule. */
export interface InjectionClassifier {
  /** Names the classifier in rows and reasons. */
  readonly id: string;
  /** Judges one text. */
  classify(input: InjectionClassifierInput): Promise<InjectionClassification>;
}
/** Options of {@link injectionClassifierOutputGuardrail}. */
export interface InjectionClassifierGuardrailOptions {
  /** What to do about a flagged text. Default `warn`. */
  readonly action?: 'warn' | 'block';
}
/** What the guardrail answers. */
export type InjectionGuardrailResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly action: 'warn' | 'block'; readonly message: string };
/** A guardrail of the shape that guardrail composers run. */
export interface InjectionOutputGuardrail {
  /** Always `output`. */
  readonly kind: 'output';
  /** `injection-classifier:` and the classifier's id. */
  readonly name: string;
  /** Judges one output. */
  check(value: unknown, ctx?: unknown): Promise<InjectionGuardrailResult>;
}

/**
 * Asks a classifier, once, with the very input given.
 *
 * @returns its verdict as it is, or null when there is no classifier or it throws or rejects: a
 *   classifier that fails must not take the call down with it. Never rejects.
 */
export async function runInjectionClassifier(
  classifier: InjectionClassifier | null | undefined,
  input: InjectionClassifierInput,
): Promise<InjectionClassification | null> {
  if (classifier === undefined || classifier === null) return null;
  try {
    return (await classifier.classify(input)) ?? null;
  } catch {
    return null;
  }
}

/**
 * Makes a guardrail that shows the assistant's answers to a classifier. Values that are not text, or
 * empty, pass, as do texts the classifier has nothing to say about.
 *
 * @example
 * const guardrail = injectionClassifierOutputGuardrail(classifier, { action: 'block' });
 * const verdict = await guardrail.check(answer);
 */
export function injectionClassifierOutputGuardrail(
  classifier: InjectionClassifier,
  options: InjectionClassifierGuardrailOptions = {},
): InjectionOutputGuardrail {
  const { action = 'warn' } = options;
  return {
    kind: 'output',
    name: `injection-classifier:${classifier.id}`,
    async check(value) {
      if (typeof value !== 'string' || value === '') return { ok: true };
      const verdict = await runInjectionClassifier(classifier, { text: value, surface: 'assistant-output' });
      if (!verdict?.flagged) return { ok: true };
      const labels = verdict.labels?.length ? ` (${verdict.labels.join(', ')})` : '';
      return { ok: false, action, message: `injection classifier '${classifier.id}' flagged the output${labels}` };
    },
  };
}
