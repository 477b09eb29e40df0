/**
 * Text of a TypeScript type together with how loosely it binds, so that `("a" | "b")[]` gets its
 * parentheses and `string[]` does not.
 *
 * @internal
 */

/** Binds tightest: names, literals, objects, tuples, arrays. @internal */
export const PRIMARY = 0;
const INTERSECTION = 1;
const UNION = 2;

/** A type's text and its binding. @internal */
export interface Rendered {
  readonly text: string;
  readonly binding: number;
}

/** A type that needs no parentheses anywhere. @internal */
export function primary(text: string): Rendered {
  return { text, binding: PRIMARY };
}

/** What nothing is known of. @internal */
export const UNKNOWN: Rendered = primary('unknown');

/** The text, in parentheses when it binds more loosely than its surroundings. @internal */
export function parenthesised({ text, binding }: Rendered, surroundings: number): string {
  return binding > surroundings ? `(${text})` : text;
}

function distinct(parts: readonly Rendered[]): Rendered[] {
  const seen = new Map(parts.map((part) => [part.text, part]));
  return [...seen.values()];
}

/** Any of the parts. `unknown` swallows the others, `never` adds nothing. @internal */
export function union(parts: readonly Rendered[]): Rendered {
  const members = distinct(parts).filter(({ text }) => text !== 'never');
  const [first] = members;
  if (first === undefined) return parts.length === 0 ? UNKNOWN : primary('never');
  if (members.some(({ text }) => text === 'unknown')) return UNKNOWN;
  if (members.length === 1) return first;
  return { text: members.map(({ text }) => text).join(' | '), binding: UNION };
}

/** All of the parts at once. `unknown` adds nothing. @internal */
export function intersection(parts: readonly Rendered[]): Rendered {
  const members = distinct(parts).filter(({ text }) => text !== 'unknown');
  const [first] = members;
  if (first === undefined) return UNKNOWN;
  if (members.length === 1) return first;
  return { text: members.map((part) => parenthesised(part, INTERSECTION)).join(' & '), binding: INTERSECTION };
}
