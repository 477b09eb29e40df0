// Builds the addon with plain cargo (so that it shares `target/` with the tests), copies it into
// `native/`, and renders `native/binding.d.ts` from what the napi macros recorded on the way.
import { generateTypeDef } from '@napi-rs/cli';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digest, platformTriple, root, run, rustInputs, targetFolder } from './lib.mjs';

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
run('cargo', ['build', '--lib', ...(release ? ['--release'] : [])], { env });

const library = { linux: 'libferrule.so', darwin: 'libferrule.dylib', win32: 'ferrule.dll' }[process.platform];
const to = join(root, 'native', `ferrule.${platformTriple()}.node`);
// Renamed into place: a running process may have the old file mapped.
copyFileSync(join(targetFolder, release ? 'release' : 'debug', library), `${to}.new`);
rmSync(to, { force: true });
renameSync(`${to}.new`, to);

const { dts, header } = await generateTypeDef({
  typeDefDir: typeDefs,
  cwd: root,
  dtsHeaderFile: 'scripts/binding-header.d.ts',
});
const file = join(root, 'native', 'binding.d.ts');
const text = dts;
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
