import { jsonSchema, projectSchemaToJsonSchema, toolInputJsonSchema } from 'ferrule/schema';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

describe('P06 empty schema for no-argument tools', () => {
  it.each([
    ['without inputSchema', undefined],
    ['with {}', {}],
    ['with an empty zod object', z.object({})],
    ['with a raw schema of nothing', jsonSchema(undefined)],
    ['with a raw {}', jsonSchema({})],
  ])('%s', (_name, inputSchema) => {
    expect(toolInputJsonSchema(projectSchemaToJsonSchema(inputSchema))).toEqual({ type: 'object', properties: {} });
  });
});
