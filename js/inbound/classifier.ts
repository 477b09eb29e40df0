/** Where a text is met that a classifier judges. */
export type InjectionClassifierSurface = 'tool-inbound' | 'assistant-output' | 'memory-write';

/** Judges whether a text tries to instruct the model. The same contract as in `ferrule/inspect`. */
export interface InjectionClassifier {
  /** Shows up as `classifier:<id>` among the hits. */
  readonly id: string;
  classify(input: {
    readonly text: string;
    readonly surface: InjectionClassifierSurface;
    readonly origin?: string;
  }): Promise<{ readonly flagged: boolean; readonly score?: number; readonly labels?: readonly string[] }>;
}

/** Asks once; a classifier that throws or rejects has no opinion. @internal */
export async function isFlagged(
  classifier: InjectionClassifier,
  text: string,
  origin: string | undefined,
): Promise<boolean> {
  try {
    const verdict = await classifier.classify({
      text,
      surface: 'tool-inbound',
      ...(origin === undefined ? {} : { origin }),
    });
    return Boolean(verdict?.flagged);
  } catch {
    return false;
  }
}
