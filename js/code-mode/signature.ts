/**
 * JSON Schema as a TypeScript type, in one line (spec 03 section 6.2).
 *
 * In TypeScript rather than Rust because the schema is a live object: values of an enum print exactly
 * as `JSON.stringify` prints them (numbers, lone surrogates), and what JSON cannot carry, a bigint
 * default for one, is of no consequence.
 *
 * @internal
 */
import { isRecord, read } from '../schema/read.js';
import { type Aliases, resolveReference } from './references.js';
import { PRIMARY, type Rendered, UNKNOWN, intersection, parenthesised, primary, union } from './type-text.js';

/** The root has depth 0; what lies deeper than this is `unknown`. */
const MAX_DEPTH = 4;
/** Shared definitions are written out at each use; a type with more nodes helps no reader. */
const MAX_NODES = 5_000;
/** Unions and references within one another that add no depth. */
const MAX_HOPS = 40;

/** One type under way. @internal */
export class TypeRenderer {
  readonly #root: unknown;
  readonly #aliases: Aliases;
  readonly #rootName: string;
  #nodes = 0;
  #hops = 0;

  constructor(root: unknown, rootName: string, aliases: Aliases) {
    this.#root = root;
    this.#rootName = rootName;
    this.#aliases = aliases;
  }

  /** The type of the whole schema. */
  renderRoot(): string {
    // A schema that refers to itself as a whole is a named type too.
    const own = this.#aliases.isRecursive(this.#root, this.#root) ? this.#alias(this.#root, this.#rootName) : undefined;
    return (own ?? this.render(this.#root, 0)).text;
  }

  /** The type of a subschema at a depth. */
  render(schema: unknown, depth: number): Rendered {
    this.#nodes += 1;
    if (!isRecord(schema) || depth > MAX_DEPTH || this.#nodes > MAX_NODES || this.#hops > MAX_HOPS) return UNKNOWN;
    this.#hops += 1;
    try {
      return this.#renderNode(schema, depth);
    } finally {
      this.#hops -= 1;
    }
  }

  #renderNode(schema: Record<string, unknown>, depth: number): Rendered {
    const options = read(schema, 'enum');
    if (Array.isArray(options) && options.length > 0) return union(options.map(literal));
    if ('const' in schema) return literal(read(schema, 'const'));
    const parts = [this.#base(schema, depth), this.#reference(schema, depth), this.#all(schema, depth)];
    const known = parts.filter((part) => part !== undefined && part.text !== 'unknown') as Rendered[];
    const alternatives = this.#alternatives(schema, depth);
    // Alternatives that only narrow a type that is known already (`required` by case) add nothing.
    const loose = known.every((part) => part.text === 'Record<string, unknown>');
    if (alternatives !== undefined && loose) return alternatives;
    return known.length > 0 ? intersection(known) : this.#leftover(schema);
  }

  /** What `type` and `properties` say. */
  #base(schema: Record<string, unknown>, depth: number): Rendered | undefined {
    const type = read(schema, 'type');
    if (Array.isArray(type)) return union(type.map((one) => this.#typed(schema, one, depth)));
    return this.#typed(schema, type, depth);
  }

  #typed(schema: Record<string, unknown>, type: unknown, depth: number): Rendered {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
        return primary(type);
      case 'number':
      case 'integer':
        return primary('number');
      case 'array':
        return this.#array(schema, depth);
      default:
        return type === 'object' || read(schema, 'properties') !== undefined ? this.#object(schema, depth) : UNKNOWN;
    }
  }

  #array(schema: Record<string, unknown>, depth: number): Rendered {
    const items = read(schema, 'items');
    const prefix = Array.isArray(items) ? items : read(schema, 'prefixItems');
    if (!Array.isArray(prefix) || prefix.length === 0) {
      return primary(`${parenthesised(isRecord(items) ? this.render(items, depth + 1) : UNKNOWN, PRIMARY)}[]`);
    }
    const rest = Array.isArray(items) ? read(schema, 'additionalItems') : items;
    const members = prefix.map((item) => this.render(item, depth + 1).text);
    if (isRecord(rest)) members.push(`...${parenthesised(this.render(rest, depth + 1), PRIMARY)}[]`);
    return primary(`[${members.join(', ')}]`);
  }

  #object(schema: Record<string, unknown>, depth: number): Rendered {
    const properties = read(schema, 'properties');
    const names = isRecord(properties) ? Object.keys(properties) : [];
    if (names.length === 0) return this.#dictionary(schema, depth);
    const required = read(schema, 'required');
    const mandatory = new Set<unknown>(Array.isArray(required) ? required : []);
    const fields = names.map((name) => {
      const type = this.render(read(properties, name), depth + 1).text;
      return `${JSON.stringify(name)}${mandatory.has(name) ? '' : '?'}: ${type}`;
    });
    return primary(`{ ${fields.join('; ')} }`);
  }

  /** An object without named properties: the type of its values, and of its keys if they are listed. */
  #dictionary(schema: Record<string, unknown>, depth: number): Rendered {
    const patterns = read(schema, 'patternProperties');
    const values = [
      ...(isRecord(patterns) ? Object.values(patterns) : []),
      ...(isRecord(read(schema, 'additionalProperties')) ? [read(schema, 'additionalProperties')] : []),
    ];
    const value = values.length === 0 ? UNKNOWN : union(values.map((one) => this.render(one, depth + 1)));
    const keys = read(read(schema, 'propertyNames'), 'enum');
    if (!Array.isArray(keys) || keys.length === 0) return primary(`Record<string, ${value.text}>`);
    const record = `Record<${union(keys.map(literal)).text}, ${value.text}>`;
    const required = read(schema, 'required');
    const all = Array.isArray(required) && keys.every((key) => required.includes(key));
    return primary(all ? record : `Partial<${record}>`);
  }

  #all(schema: Record<string, unknown>, depth: number): Rendered | undefined {
    const parts = read(schema, 'allOf');
    return Array.isArray(parts) && parts.length > 0 ? intersection(parts.map((part) => this.render(part, depth))) : undefined;
  }

  #alternatives(schema: Record<string, unknown>, depth: number): Rendered | undefined {
    for (const key of ['anyOf', 'oneOf']) {
      const parts = read(schema, key);
      if (!Array.isArray(parts) || parts.length === 0) continue;
      const type = union(parts.map((part) => this.render(part, depth)));
      if (type.text !== 'unknown') return type;
    }
    return undefined;
  }

  #leftover(schema: Record<string, unknown>): Rendered {
    const not = read(schema, 'not');
    return isRecord(not) && Object.keys(not).length === 0 ? primary('never') : UNKNOWN;
  }

  #reference(schema: Record<string, unknown>, depth: number): Rendered | undefined {
    const reference = read(schema, '$ref');
    if (typeof reference !== 'string') return undefined;
    const target = resolveReference(this.#root, reference);
    if (target === undefined) return UNKNOWN;
    if (this.#aliases.isRecursive(target, this.#root)) {
      const name = reference === '#' ? this.#rootName : (reference.split('/').at(-1) ?? '');
      return this.#alias(target, name);
    }
    return this.render(target, depth);
  }

  /** A named type: the name where it is used, the body once. */
  #alias(target: unknown, wish: string): Rendered {
    const name = this.#aliases.name(target, wish, () => this.render(target, 0).text);
    return name === undefined ? UNKNOWN : primary(name);
  }
}

/** A value as the type that holds nothing else. */
function literal(value: unknown): Rendered {
  try {
    const text: string | undefined = JSON.stringify(value);
    return text === undefined ? UNKNOWN : primary(text);
  } catch {
    return UNKNOWN;
  }
}
