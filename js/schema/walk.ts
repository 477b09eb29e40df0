import { isZodV3Schema, isZodV4Schema } from './detect.js';
import { isObject, read } from './read.js';
import type { JsonSchemaRecord, ProjectSchemaOptions, SchemaSide, ZodV3Like, ZodV4Like } from './types.js';
import { projectV3 } from './v3/index.js';
import { projectV4 } from './v4/index.js';

/** The root has depth 0; a node deeper than this becomes `{}`. @internal */
const MAX_DEPTH = 24;
/**
 * Shared subschemas are expanded at each use, so a small definition can unfold without end. A
 * document this large helps nobody; what lies beyond becomes `{}`.
 */
const MAX_NODES = 50_000;

/** One conversion under way: where it is, and who hears about what it cannot describe. @internal */
export class Walk {
  readonly side: SchemaSide;
  readonly #options: ProjectSchemaOptions;
  readonly #reported = new Set<string>();
  readonly #ancestors = new Set<object>();
  readonly #path: Array<string | number> = [];
  #nodes = 0;
  #callbackThrew = false;

  constructor(options: ProjectSchemaOptions) {
    this.#options = options;
    this.side = options.side ?? 'input';
  }

  /** Reports what cannot be described and returns the fallback, a schema that accepts anything. */
  unsupported(detail: string): JsonSchemaRecord {
    const first = !this.#reported.has(detail);
    this.#reported.add(detail);
    try {
      this.#options.onFallback?.({ detail, path: [...this.#path] });
      if (first) this.#options.onUnsupported?.(detail);
    } catch (error) {
      this.#callbackThrew = true;
      throw error;
    }
    return {};
  }

  /** Converts a schema that describes part of the value its parent describes, found at `step`. */
  at(step: string | number, schema: unknown): JsonSchemaRecord {
    this.#path.push(step);
    try {
      return this.project(schema);
    } finally {
      this.#path.pop();
    }
  }

  /** Converts a schema that describes the same value as its parent, or the root. */
  project(schema: unknown): JsonSchemaRecord {
    if (isObject(schema) && this.#ancestors.has(schema)) return {};
    if (this.#ancestors.size > MAX_DEPTH) return this.unsupported('max-depth');
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES) return this.unsupported('max-nodes');
    const v4 = isZodV4Schema(schema);
    if (!v4 && !isZodV3Schema(schema)) return this.unsupported('non-zod-node');
    this.#ancestors.add(schema);
    const depth = this.#path.length;
    try {
      return describe(schema, v4 ? projectV4(schema, this) : projectV3(schema, this));
    } catch (error) {
      if (this.#callbackThrew) throw error;
      // A getter of the schema threw: this node is lost, the rest of the document is not.
      this.#path.length = depth;
      return this.unsupported(kindOf(schema));
    } finally {
      this.#ancestors.delete(schema);
    }
  }
}

/** The report text that names a node's kind. */
function kindOf(schema: ZodV3Like | ZodV4Like): string {
  const type = read(read(read(schema, '_zod'), 'def'), 'type');
  return typeof type === 'string' ? `zod-v4:${type}` : `zod-v3:${String(read(read(schema, '_def'), 'typeName'))}`;
}

/** Puts the schema's own description first, unless an inner one already stands there. */
function describe(schema: unknown, node: JsonSchemaRecord): JsonSchemaRecord {
  const description = read(schema, 'description');
  if (typeof description !== 'string' || description === '') return node;
  return { description, ...node };
}
