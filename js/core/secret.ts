/** Marks secret values; registered, so that copies of this package agree on it. */
export const SECRET_VALUE_BRAND: unique symbol = Symbol.for('graphorin.SecretValue') as never;
/** The symbol `util.inspect` looks for. */
export const NODEJS_INSPECT_CUSTOM: unique symbol = Symbol.for('nodejs.util.inspect.custom') as never;

/** A secret that does not show itself: printing, serialising and inspecting it give a placeholder. */
export interface SecretValue {
  /** Tells it from look-alikes. */
  readonly [SECRET_VALUE_BRAND]: true;
  /** Length in bytes. */
  readonly length: number;
  /** Lends the secret as text. */
  use<T>(fn: (raw: string) => T | Promise<T>): Promise<T>;
  /** Lends a copy of its bytes. */
  useBuffer<T>(fn: (buf: Buffer) => T | Promise<T>): Promise<T>;
  /** The secret as text, for what takes nothing else. */
  reveal(): string;
  /** Wipes the secret; it cannot be read afterwards. */
  dispose(): void;
  /** The placeholder. */
  [Symbol.toPrimitive](hint: string): string | number;
  /** The placeholder. */
  toJSON(): string;
  /** The placeholder. */
  [NODEJS_INSPECT_CUSTOM](depth?: number, opts?: unknown, inspect?: unknown): string;
}
