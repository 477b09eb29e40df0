/** Containers nested deeper than this are written as a mark. @internal */
export const MAX_DEPTH = 512;

const TOO_DEEP = '"[too deep]"';
const CIRCULAR = '"[circular]"';
const UNREADABLE = '"[unreadable]"';

/**
 * Canonical JSON (RFC 8785): one text for one value, whatever the order of its keys. Means what
 * `JSON.stringify` means (`toJSON`, `undefined` and functions left out or null in lists), but never
 * throws: bigints are written as text with an `n`, cycles, overly deep containers and what cannot be
 * read as marks. `src/value/canonical.rs` writes the same text for the same JSON value.
 *
 * @returns `undefined` for what has no JSON form, such as a function.
 *
 * @internal
 */
export function canonicalJson(value: unknown): string | undefined {
  return write(value, '', []);
}

function write(raw: unknown, key: string, ancestors: object[]): string | undefined {
  const value = throughToJson(raw, key);
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Number.isFinite(value) ? String(value) : 'null';
    case 'boolean':
      return String(value);
    case 'bigint':
      return `"${value}n"`;
    case 'object':
      return value === null ? 'null' : writeContainer(value, ancestors);
    default:
      return undefined;
  }
}

function throughToJson(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  try {
    const { toJSON } = value as { toJSON?: unknown };
    return typeof toJSON === 'function' ? (toJSON.call(value, key) as unknown) : value;
  } catch {
    return UNREADABLE.slice(1, -1);
  }
}

function writeContainer(value: object, ancestors: object[]): string {
  if (ancestors.includes(value)) return CIRCULAR;
  if (ancestors.length >= MAX_DEPTH) return TOO_DEEP;
  ancestors.push(value);
  try {
    return Array.isArray(value)
      ? `[${Array.from(value, (item: unknown, at) => write(item, String(at), ancestors) ?? 'null').join(',')}]`
      : writeObject(value as Record<string, unknown>, ancestors);
  } catch {
    return UNREADABLE;
  } finally {
    ancestors.pop();
  }
}

function writeObject(value: Record<string, unknown>, ancestors: object[]): string {
  const parts: string[] = [];
  // The default sort compares UTF-16 code units, as the standard asks.
  for (const key of Object.keys(value).sort()) {
    const text = write(value[key], key, ancestors);
    if (text !== undefined) parts.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${parts.join(',')}}`;
}
