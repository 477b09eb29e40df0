// The resolver behind redirect.mjs: `ferrule/x` becomes `<name of the target>/x`, as seen from inside
// the target, which may always import itself by its own name.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const targets = [process.env.BENCH_TARGET, process.env.BENCH_TARGET_SECURITY].filter(Boolean).map((folder) => {
  const manifest = join(folder, 'package.json');
  return { name: JSON.parse(readFileSync(manifest, 'utf8')).name, parentURL: pathToFileURL(manifest).href };
});

export async function resolve(specifier, context, next) {
  if (specifier !== 'ferrule' && !specifier.startsWith('ferrule/')) return next(specifier, context);
  let last;
  for (const { name, parentURL } of targets) {
    try {
      return await next(`${name}${specifier.slice('ferrule'.length)}`, { ...context, parentURL });
    } catch (error) {
      last = error;
    }
  }
  throw last;
}
