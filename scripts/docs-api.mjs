// `npm run docs:api`: the reference in docs/api/, one page for each public subpath, from the TSDoc of js/.
//
//   node scripts/docs-api.mjs [--check]
//
// `--check` writes nothing and fails when a page is not what the sources say. Both fail on an export, or
// a member of one, that has no description, and on a link that leads nowhere.
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { Application, Converter, ReflectionKind } from 'typedoc';
import { root, say } from './lib.mjs';

const check = process.argv.includes('--check');
const pages = join(root, 'docs', 'api');

/** `[subpath, source]` of each public subpath. The root comes last: what it re-exports is described where it lives. */
function subpaths() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const rooms = Object.entries(exports).flatMap(([subpath, target]) => {
    const source = target.types?.match(/^\.\/dist\/(.*)\.d\.ts$/)?.[1];
    return source ? [[subpath, `js/${source}.ts`]] : [];
  });
  const first = rooms.filter(([subpath]) => subpath === './core');
  return [...first, ...rooms.filter(([subpath]) => subpath !== './core'), ['.', 'js/index.ts']];
}

const moduleName = (subpath) => `ferrule${subpath.slice(1)}`;

async function convert(out) {
  const rooms = subpaths();
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    tsconfig: join(root, 'tsconfig.build.json'),
    entryPoints: rooms.map(([, source]) => join(root, source)),
    out,
    readme: 'none',
    name: 'API reference',
    router: 'module',
    entryFileName: 'README',
    hidePageHeader: true,
    hideBreadcrumbs: true,
    disableSources: true,
    excludeInternal: true,
    excludeExternals: true,
    githubPages: false,
    gitRevision: 'main',
    sort: ['source-order'],
    validation: { notExported: false, invalidLink: true, rewrittenLink: false, notDocumented: false, unusedMergeModuleWith: false },
    treatValidationWarningsAsErrors: true,
    logLevel: 'Warn',
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    typeDeclarationFormat: 'table',
    expandObjects: false,
    useCodeBlocks: true,
  });
  // Pages are named as users import them.
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_, reflection) => {
    if (!reflection.kindOf(ReflectionKind.Module)) return;
    const room = rooms.find(([, source]) => source.replace(/^js\//, '').replace(/(\/?index)?\.ts$/, '') === reflection.name.replace(/\/?index$/, ''));
    if (room) reflection.name = moduleName(room[0]);
  });
  const project = await app.convert();
  if (!project) throw new Error('the sources do not compile');
  app.validate(project);
  return { app, project };
}

const text = (comment) => comment?.summary?.map((part) => part.text).join('').trim();
const described = ({ comment, signatures = [], getSignature }) =>
  [comment, ...signatures.map((one) => one.comment), getSignature?.comment].some((one) => Boolean(text(one)));

/** A member whose type is a function is described as the function. */
const asFunction = (reflection) => reflection.type?.declaration?.signatures?.some((one) => Boolean(text(one.comment))) ?? false;

/** Exports, and members of exported classes and interfaces, without a description. */
const undescribed = (project) =>
  project
    .getReflectionsByKind(ReflectionKind.SomeExport | ReflectionKind.SomeMember)
    .filter((one) => one.parent?.kindOf(ReflectionKind.Module | ReflectionKind.ClassOrInterface))
    .filter((one) => !one.kindOf(ReflectionKind.Reference) && !one.flags.isExternal && !one.inheritedFrom)
    .filter((one) => !described(one) && !asFunction(one))
    .map((one) => one.getFriendlyFullName());

/** Every page below a folder, by its path. */
function read(folder) {
  if (!existsSync(folder)) return new Map();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return [relative(folder, file).split(sep).join('/'), readFileSync(file, 'utf8')];
    }),
  );
}

const out = mkdtempSync(join(tmpdir(), 'ferrule-api-'));
try {
  const { app, project } = await convert(out);
  const bare = undescribed(project);
  for (const name of bare) console.error(`${name} has no description`);
  await app.generateOutputs(project);
  const faults = bare.length + app.logger.errorCount + app.logger.warningCount;
  const made = read(out);
  // One newline at the end, as in every other file.
  for (const [path, page] of made) writeFileSync(join(out, path), `${page.trimEnd()}\n`);
  if (check) {
    const kept = read(pages);
    const stale = [...new Set([...made.keys(), ...kept.keys()])].filter((path) => kept.get(path)?.trimEnd() !== made.get(path)?.trimEnd());
    for (const path of stale) console.error(`docs/api/${path} is not what the sources say`);
    if (stale.length > 0) console.error('Run `npm run docs:api` and commit the pages.');
    process.exitCode = faults + stale.length > 0 ? 1 : 0;
  } else {
    rmSync(pages, { recursive: true, force: true });
    cpSync(out, pages, { recursive: true });
    say(`docs/api: ${made.size} pages`);
    process.exitCode = faults > 0 ? 1 : 0;
  }
} finally {
  rmSync(out, { recursive: true, force: true });
}
