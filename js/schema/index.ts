/** Stands in until the schema room lands. @internal */
export type JsonSchemaRecord = Record<string, unknown>;
export interface SchemaFallback {
  readonly detail: string;
  readonly path: ReadonlyArray<string | number>;
}
export interface ProjectSchemaOptions {
  readonly onUnsupported?: (detail: string) => void;
  readonly onFallback?: (fallback: SchemaFallback) => void;
  readonly side?: 'input' | 'output';
}
export function projectSchemaToJsonSchema(
  raw: unknown,
  _opts: ProjectSchemaOptions = {},
): JsonSchemaRecord | undefined {
  return typeof raw === 'object' && raw !== null && !('safeParse' in raw) ? (raw as JsonSchemaRecord) : undefined;
}
