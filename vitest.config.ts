import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const js = fileURLToPath(new URL('./js', import.meta.url));

// Tests import the public names (`ferrule`, `ferrule/builder`, …) and run the TypeScript sources,
// so that a change needs no build of `dist`; `__test__/packaging` covers the built package.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^ferrule$/, replacement: `${js}/index.ts` },
      { find: /^ferrule\/(.+)$/, replacement: `${js}/$1/index.ts` },
    ],
  },
  test: {
    include: ['__test__/**/*.spec.ts'],
    pool: 'forks',
    testTimeout: 20_000,
  },
});
