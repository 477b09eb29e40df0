// Every block marked `ts` in the documents compiles against the built package and prints what its
// lines `//=> …` say.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, describe, expect, test } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
// Inside the package, so that `ferrule` is the package itself, as its own exports name it.
const folder = join(root, 'target', `docs-${process.pid}`);

interface Block {
  readonly title: string;
  readonly file: string;
  readonly text: string;
  readonly prints: readonly string[];
}

const guides = existsSync(join(root, 'docs')) ? readdirSync(join(root, 'docs')).map((name) => `docs/${name}`) : [];
const documents = ['README.md', 'SECURITY.md', 'ARCHITECTURE.md', 'COMPATIBILITY.md', ...guides].filter(
  (name) => name.endsWith('.md') && existsSync(join(root, name)),
);

const blocks: Block[] = documents.flatMap((document) => {
  const text = readFileSync(join(root, document), 'utf8');
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match, index) => ({
    title: `${document}, line ${text.slice(0, match.index).split('\n').length}`,
    file: join(folder, `${document.replace(/\W/g, '-')}-${index + 1}.ts`),
    text: match[1]!,
    prints: [...match[1]!.matchAll(/^\/\/=> ?(.*)$/gm)].map(([, line]) => line!),
  }));
});

mkdirSync(folder, { recursive: true });
for (const { file, text } of blocks) writeFileSync(file, text);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2023.d.ts'],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  types: ['node'],
  noEmit: true,
};

describe('documents', () => {
  test('the readme has blocks to check', () => {
    expect(blocks.filter(({ title }) => title.startsWith('README')).length).toBeGreaterThanOrEqual(2);
  });

  test('every block compiles against the built package', () => {
    const program = ts.createProgram({ rootNames: blocks.map(({ file }) => file), options });
    const faults = ts.getPreEmitDiagnostics(program).map((fault) => {
      const title = blocks.find(({ file }) => file === fault.file?.fileName)?.title ?? fault.file?.fileName ?? '';
      const line = fault.file && fault.start !== undefined ? fault.file.getLineAndCharacterOfPosition(fault.start).line + 1 : 0;
      return `${title} +${line}: ${ts.flattenDiagnosticMessageText(fault.messageText, '\n')}`;
    });
    expect(faults).toEqual([]);
  }, 60_000);

  test.each(blocks.map((block) => [block.title, block] as const))('%s runs', (_, { file, text, prints }) => {
    const run = file.replace(/\.ts$/, '.mjs');
    writeFileSync(run, ts.transpileModule(text, { compilerOptions: { ...options, noEmit: false, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler } }).outputText);
    const ended = spawnSync(process.execPath, [run], { cwd: root, encoding: 'utf8', timeout: 30_000, killSignal: 'SIGKILL' });
    expect(ended.stderr).toBe('');
    expect(ended).toMatchObject({ status: 0, signal: null });
    if (prints.length > 0) expect(ended.stdout.trimEnd().split('\n')).toEqual(prints);
  }, 40_000);

  test.each(documents)('%s links to files that are there', (document) => {
    const links = [...readFileSync(join(root, document), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target]) => target!);
    expect(links.filter((target) => !existsSync(join(root, dirname(document), target)))).toEqual([]);
  });
});
