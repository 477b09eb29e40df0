import { isObject, isRecord, read } from '../schema/read.js';

/** Most named types of one signature. */
const MAX_ALIASES = 12;
/** Subschemas looked at to find out whether one contains itself. */
const MAX_VISITS = 5_000;

/**
 * What a `$ref` within the same document leads to: `#`, or a JSON pointer after `#`. Own properties
 * only, so that no name leads to a prototype. Undefined for anything else.
 *
 * @internal
 */
export function resolveReference(root: unknown, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let current: unknown = root;
  for (const step of decode(reference.slice(2)).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!isObject(current) || !Object.hasOwn(current, key)) return undefined;
    current = read(current, key);
  }
  return current;
}

function decode(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}

/** The named types of one signature. @internal */
export class Aliases {
  readonly #names = new Map<unknown, string>();
  readonly #bodies = new Map<string, string>();
  readonly #recursive = new Map<unknown, boolean>();

  /** `type A = …;` lines in order of first use. */
  lines(): string[] {
    return [...this.#bodies].map(([name, body]) => `type ${name} = ${body};`);
  }

  /** The name of a type, whose body is made at its first use; undefined when there are too many. */
  name(target: unknown, wish: string, body: () => string): string | undefined {
    const known = this.#names.get(target);
    if (known !== undefined) return known;
    if (this.#names.size >= MAX_ALIASES) return undefined;
    const base = identifier(wish);
    let name = base;
    for (let number = 2; this.#bodies.has(name); number += 1) name = `${base}${number}`;
    this.#names.set(target, name);
    // Before the body: a type keeps its place, and its body refers to it by name.
    this.#bodies.set(name, 'unknown');
    const text = body();
    // A reference to nothing but itself says nothing, and is no type.
    if (text !== name) this.#bodies.set(name, text);
    return name;
  }

  /** Whether a subschema contains itself through references. */
  isRecursive(target: unknown, root: unknown): boolean {
    let known = this.#recursive.get(target);
    if (known === undefined) {
      known = containsItself(target, root);
      this.#recursive.set(target, known);
    }
    return known;
  }
}

function containsItself(target: unknown, root: unknown): boolean {
  const seen = new Set<unknown>();
  const pending: unknown[] = [target];
  for (let visits = 0; pending.length > 0 && visits < MAX_VISITS; visits += 1) {
    const node = pending.pop();
    if (!isObject(node) || seen.has(node)) continue;
    seen.add(node);
    const reference = read(node, '$ref');
    if (typeof reference === 'string') {
      const next = resolveReference(root, reference);
      if (next === target) return true;
      pending.push(next);
    }
    for (const key of Object.keys(node)) {
      // Definitions count where they are referred to; an enum holds data.
      const skip = isRecord(node) && ['$defs', 'definitions', 'enum', 'const', 'default', 'examples'].includes(key);
      if (!skip) pending.push(read(node, key));
    }
  }
  return false;
}

/** A type name out of any text. */
function identifier(text: string): string {
  const word = decode(text)
    .replaceAll(/[^A-Za-z0-9_$]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 60);
  const name = word === '' ? 'Type' : word;
  return /^[0-9]/.test(name) ? `T${name}` : `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}
