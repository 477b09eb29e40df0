import { projectSchemaToJsonSchema } from '../schema/index.js';
import type { Sink } from './sink.js';
import type { RegistryEntry } from './types.js';

/** The two sides of a tool as JSON Schema. @internal */
export interface ProjectedSchemas {
  readonly inputSchema: Record<string, unknown> | undefined;
  readonly outputSchema: Record<string, unknown> | undefined;
}

/**
 * Projects the schemas of an entry. What a schema says and JSON Schema cannot is reported once per
 * entry as an audit row that names tool, side, what it is and where; the rest of the schema and the
 * other tools are unaffected.
 *
 * @internal
 */
export class Projector {
  readonly #sink: Sink;
  readonly #reported = new WeakSet<RegistryEntry>();

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  project(entry: RegistryEntry): ProjectedSchemas {
    // Without a listener nothing is reported, and so nothing counts as reported.
    const silent = this.#reported.has(entry) || !this.#sink.isHeard;
    if (!silent) this.#reported.add(entry);
    return {
      inputSchema: this.#side(entry, 'input', silent),
      outputSchema: this.#side(entry, 'output', silent),
    };
  }

  /** What a schema takes, for both: a result is checked by its schema and passed on as it is, not as that would make it. */
  #side(entry: RegistryEntry, side: 'input' | 'output', silent: boolean): Record<string, unknown> | undefined {
    const schema = side === 'input' ? entry.inputSchema : entry.outputSchema;
    if (schema === undefined || schema === null) return undefined;
    if (silent) return projectSchemaToJsonSchema(schema);
    return projectSchemaToJsonSchema(schema, {
      onFallback: ({ detail, path }) => {
        this.#sink.report('tool:classification:warn', entry.name, () => ({
          kind: 'schema-fallback',
          side,
          detail,
          path: path.map(String).join('.'),
        }));
      },
    });
  }
}
