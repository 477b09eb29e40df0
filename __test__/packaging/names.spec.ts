// The code in `dist/` is bundled; a bundler may rename bindings, but users read the names of classes
// and functions in stacks, logs and `error.name`.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { default: string }>;
};

describe('the names of what is exported', () => {
  const entries = Object.entries(manifest.exports).flatMap(([subpath, target]) =>
    typeof target === 'string' ? [] : [[subpath, target.default] as const],
  );

  test.each(entries)('%s', async (_, file) => {
    const module = (await import(/* @vite-ignore */ pathToFileURL(join(root, file)).href)) as Record<string, unknown>;
    const renamed = Object.entries(module).filter(([name, value]) => typeof value === 'function' && value.name !== name);
    expect(renamed.map(([name]) => name)).toEqual([]);
  });
});
