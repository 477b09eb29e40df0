/** Makes a value at its first use, and keeps it. @internal */
export function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
