// Builds the addon with plain cargo (so that it shares `target/` with the tests), copies it into
// `native/`, and renders `native/binding.d.ts` from what the napi macros recorded on the way.
import { generateTypeDef } from '@napi-rs/cli';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digest, install, platformTriple, root, run, rustInputs, targetFolder } from './lib.mjs';

const release = process.argv.includes('--release');
const typeDefs = join(targetFolder, 'napi-type-defs', release ? 'release' : 'dev');
mkdirSync(typeDefs, { recursive: true });
// The type definitions are written while the crate compiles. The variable makes cargo compile it
// anew when another command (without the folder set) compiled these very sources before.
const env = {
  ...process.env,
  NAPI_TYPE_DEF_TMP_FOLDER: typeDefs,
  NAPI_FORCE_BUILD_FERRULE: digest(rustInputs),
};
await run('cargo', ['build', '--lib', ...(release ? ['--release'] : [])], { env });

const library = { linux: 'libferrule.so', darwin: 'libferrule.dylib', win32: 'ferrule.dll' }[process.platform];
install(join(targetFolder, release ? 'release' : 'debug', library), `ferrule.${platformTriple()}.node`);

const { dts } = await generateTypeDef({
  typeDefDir: typeDefs,
  cwd: root,
  dtsHeaderFile: 'scripts/binding-header.d.ts',
});
const file = join(root, 'native', 'binding.d.ts');
if (!existsSync(file) || readFileSync(file, 'utf8') !== dts) writeFileSync(file, dts);
