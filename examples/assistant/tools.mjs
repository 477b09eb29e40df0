// The assistant's tools: they work on the packages that are installed in this repository.
import { tool } from 'ferrule';
import { existsSync } from 'node:fs';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const modules = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'node_modules');

async function packageNames() {
  const names = [];
  for (const entry of await readdir(modules)) {
    if (entry.startsWith('.')) continue;
    if (entry.startsWith('@')) for (const inner of await readdir(join(modules, entry))) names.push(`${entry}/${inner}`);
    else names.push(entry);
  }
  return names.filter((name) => existsSync(join(modules, name, 'package.json'))).sort();
}

async function manifestOf(name) {
  const file = join(modules, name, 'package.json');
  if (!existsSync(file)) throw new Error(`no package ${name} is installed`);
  return JSON.parse(await readFile(file, 'utf8'));
}

async function* textFiles(folder) {
  const entries = await readdir(folder, { withFileTypes: true });
  // The same order on every file system.
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* textFiles(path);
    else if (/\.(js|mjs|cjs|ts|md|json)$/.test(entry.name)) yield path;
  }
}

const name = z.string().regex(/^(@[\w.-]+\/)?[\w.-]+$/);

export const listPackages = tool({
  name: 'packages.list',
  description: 'Lists the installed packages by name.',
  inputSchema: z.object({ limit: z.number().int().min(1).max(500).default(50) }),
  outputSchema: z.object({ total: z.number(), names: z.array(z.string()) }),
  sideEffectClass: 'read-only',
  async execute({ limit }) {
    const names = await packageNames();
    return { total: names.length, names: names.slice(0, limit) };
  },
});

export const readManifest = tool({
  name: 'package.manifest',
  description: 'Reads the manifest of an installed package.',
  inputSchema: z.object({ name }),
  outputSchema: z.object({ name: z.string(), version: z.string(), dependencies: z.number() }),
  sideEffectClass: 'read-only',
  examples: [{ input: { name: 'zod' }, output: { name: 'zod', version: '4.0.0', dependencies: 0 } }],
  async execute(input) {
    const manifest = await manifestOf(input.name);
    return {
      name: manifest.name,
      version: manifest.version,
      dependencies: Object.keys(manifest.dependencies ?? {}).length,
    };
  },
});

export const readLicence = tool({
  name: 'package.licence',
  description: 'The licence of an installed package.',
  inputSchema: z.object({ name }),
  outputSchema: z.object({ name: z.string(), licence: z.string() }),
  sideEffectClass: 'read-only',
  async execute(input) {
    const { license } = await manifestOf(input.name);
    return { name: input.name, licence: typeof license === 'string' ? license : (license?.type ?? 'none') };
  },
});

export const searchFiles = tool({
  name: 'files.search',
  description: "Searches the text of a package's files; one match a line, as file:line: text.",
  inputSchema: z.object({ package: name, text: z.string().min(2), limit: z.number().int().min(1).max(1000).default(50) }),
  sideEffectClass: 'read-only',
  // What a model can take in one go; the rest stays readable behind a handle.
  maxResultTokens: 600,
  truncationStrategy: 'spill-to-file',
  async execute(input, ctx) {
    const folder = join(modules, input.package);
    const matches = [];
    let files = 0;
    for await (const file of textFiles(folder)) {
      ctx.signal.throwIfAborted();
      files += 1;
      if (files % 25 === 0) ctx.reportProgress(files, undefined, 'files read');
      const lines = (await readFile(file, 'utf8')).split('\n');
      for (const [index, line] of lines.entries()) {
        if (!line.includes(input.text)) continue;
        matches.push(`${relative(folder, file)}:${index + 1}: ${line.trim().slice(0, 90)}`);
        if (matches.length === input.limit) return matches.join('\n');
      }
    }
    return matches.join('\n');
  },
});

/** Makes the tool that writes, into a folder of its caller. */
export const reportWriter = (folder) =>
  tool({
    name: 'report.write',
    description: 'Writes a report for people to read.',
    inputSchema: z.object({ title: z.string().min(1), lines: z.array(z.string()).min(1) }),
    outputSchema: z.object({ bytes: z.number() }),
    sideEffectClass: 'side-effecting',
    needsApproval: true,
    async execute({ title, lines }) {
      const text = `# ${title}\n\n${lines.join('\n')}\n`;
      await writeFile(join(folder, 'report.md'), text);
      return { bytes: Buffer.byteLength(text) };
    },
  });
