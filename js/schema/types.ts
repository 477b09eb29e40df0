/** A JSON Schema document or subschema, as a plain mutable record. */
export type JsonSchemaRecord = Record<string, unknown>;

/**
 * Which face of a schema is described: `'input'` is what a caller has to produce (defaults are
 * optional, pipes show where they start), `'output'` is what a parse yields (defaults are present,
 * pipes show where they end).
 */
export type SchemaSide = 'input' | 'output';

/** One place a projection could not describe exactly. */
export interface SchemaFallback {
  /** The report text, the same one `onUnsupported` receives. */
  readonly detail: string;
  /**
   * Where in the described data: property names, tuple positions, and `'*'` for the elements of an
   * array or set and the values of a record. Empty for the root.
   */
  readonly path: ReadonlyArray<string | number>;
}

/** Options of {@link projectSchemaToJsonSchema} and {@link zodToJsonSchema}. */
export interface ProjectSchemaOptions {
  /**
   * Told about everything that has no JSON Schema form, each distinct text once per call, in order
   * of first occurrence: `max-depth`, `max-nodes`, `lazy-getter-threw`, `non-zod-node`,
   * `zod-v3:<typeName>`, `zod-v4:<type>`, and `unprojectable-schema`.
   */
  readonly onUnsupported?: (detail: string) => void;
  /** Like `onUnsupported`, but for every occurrence and with its path. */
  readonly onFallback?: (fallback: SchemaFallback) => void;
  /** The side to describe. Default `'input'`. */
  readonly side?: SchemaSide;
}

/** What is read of a zod 3 schema. */
export interface ZodV3Like {
  /** What zod 3 keeps of a schema. */
  readonly _def: { readonly typeName: string } & Readonly<Record<string, unknown>>;
}

/** What is read of a zod 4 schema. */
export interface ZodV4Like {
  /** What zod 4 keeps of a schema. */
  readonly _zod: { readonly def: { readonly type: string } & Readonly<Record<string, unknown>> };
}
