import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jsonSchema } from 'ferrule/schema';
import { describe, expect, it } from 'vitest';

describe('P15 schema-driven requests and file reads', () => {
  it('nobody is asked, nothing is read', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const folder = mkdtempSync(join(tmpdir(), 'p15-'));
    const file = join(folder, 'schema.json');
    // Were it read, it would refuse what is checked below.
    writeFileSync(file, JSON.stringify({ type: 'string' }));
    const remote = `http://127.0.0.1:${port}/schema.json`;
    const local = pathToFileURL(file).href;
    try {
      for (const url of [remote, `https://127.0.0.1:${port}/x`, local, file, `${remote}#/definitions/a`]) {
        const schemas: Array<Record<string, unknown>> = [
          { $ref: url },
          { type: 'object', properties: { a: { $ref: url } } },
          { $id: url, $ref: 'other.json' },
          { $schema: url },
          { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: { $ref: url } }, $ref: '#/definitions/a' },
          { $schema: 'http://json-schema.org/draft-04/schema#', id: url, $ref: 'b.json' },
        ];
        for (const raw of schemas) {
          const schema = jsonSchema(raw);
          expect(schema.problem()?.code, JSON.stringify(raw)).toMatch(/^(unresolvable-ref|unknown-dialect|invalid-schema)$/);
          expect(schema.safeParse({ a: 1 }).success).toBe(true);
          expect(jsonSchema({ ...raw }, { onUnusable: 'refuse' }).safeParse({ a: 1 }).success).toBe(false);
        }
      }
      // A dynamic reference that leads nowhere is no error to the validator, and no request either.
      for (const url of [remote, local]) expect(jsonSchema({ $dynamicRef: url }).safeParse({ a: 1 }).success).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(connections).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('the error names the reference', () => {
    expect(jsonSchema({ $ref: 'http://169.254.169.254/latest' }).problem()?.message).toContain('http://169.254.169.254/latest');
  });
});
