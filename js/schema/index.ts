/**
 * From a tool's schema to JSON Schema, and back to a validator.
 *
 * {@link projectSchemaToJsonSchema} describes what tools declare (zod 3 and 4, JSON Schema, anything
 * with `toJSON()` or a Standard Schema with a JSON Schema side) for a model to read;
 * {@link jsonSchema} makes a validator of a raw JSON Schema, such as an MCP server sends.
 *
 * @packageDocumentation
 */
export { isZodSchema, isZodV3Schema, isZodV4Schema, looksLikeJsonSchema } from './detect.js';
export { projectSchemaToJsonSchema, zodToJsonSchema } from './project.js';
export type {
  JsonSchemaRecord,
  ProjectSchemaOptions,
  SchemaFallback,
  SchemaSide,
  ZodV3Like,
  ZodV4Like,
} from './types.js';
export {
  type JsonSchemaIssue,
  type JsonSchemaOptions,
  type JsonSchemaReport,
  JsonSchemaValidationError,
  type JsonSchemaValidatorLike,
  jsonSchema,
  toolInputJsonSchema,
} from './json-schema.js';
