import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createDefaultSpillWriter, createFileResultReader, truncateBody } from 'ferrule/result';
import { beforeEach, describe, expect, it } from 'vitest';

const HOSTILE = ['../../etc/x', 'a/b', 'a\\b', 'CON', '', '.', '..', 'x'.repeat(300), 'a\0b', 'c1.txt.meta', '/abs'];
let top: string;
let root: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'ferrule-'));
  root = join(top, 'root');
});
const writer = () => createDefaultSpillWriter({ root, startupSweepTtlMs: false });

describe('P58: spill paths come from the model', () => {
  it('hostile call and run ids stay inside, private, and apart', async () => {
    const spill = writer();
    const paths = new Set<string>();
    for (const id of HOSTILE) {
      for (const [runId, toolCallId] of [['run', id], [id, 'c1']] as const) {
        const { path } = await spill.write({ runId, toolCallId, extension: 'txt', body: id });
        const below = relative(root, path);
        expect(below.startsWith('..'), below).toBe(false);
        expect(below.split('/')).toHaveLength(2);
        expect(statSync(path).mode & 0o777).toBe(0o600);
        expect(readFileSync(path, 'utf8')).toBe(id);
        paths.add(path);
      }
    }
    expect(paths.size).toBe(HOSTILE.length * 2);
    expect(readdirSync(top)).toEqual(['root']);
  });

  it('an id that names a sidecar cannot launder another call', async () => {
    const spill = writer();
    const { path } = await spill.write({
      runId: 'run',
      toolCallId: 'c1',
      extension: 'txt',
      body: 'poison',
      producerTrustClass: 'mcp-derived',
    });
    await spill.write({ runId: 'run', toolCallId: 'c1.txt.meta', extension: 'json', body: '{}' });
    expect(readFileSync(`${path}.meta.json`, 'utf8')).toContain('mcp-derived');
  });

  it('every hostile id reads back through its handle', async () => {
    const reader = createFileResultReader({ artifactRoot: root });
    for (const id of HOSTILE) {
      const { resultHandle } = await truncateBody({
        body: `${id} ${'y'.repeat(4000)}`,
        maxTokens: 100,
        strategy: 'spill-to-file',
        options: { spill: writer(), runId: id, toolCallId: id },
      });
      expect((await reader.read(resultHandle as string)).content).toBe(`${id} ${'y'.repeat(4000)}`);
    }
  });

  it('planted links are refused or replaced, never followed', async () => {
    const outside = join(top, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'keep.txt'), 'keep');
    mkdirSync(root);
    symlinkSync(outside, join(root, 'run'));
    await expect(
      writer().write({ runId: 'run', toolCallId: 'keep', extension: 'txt', body: 'x' }),
    ).rejects.toThrow('not a private folder');
    await expect(
      createFileResultReader({ artifactRoot: root }).read('graphorin-spill:run/keep.txt'),
    ).rejects.toThrow('not found');
    await writer().clear?.('run');
    expect(existsSync(join(root, 'run'))).toBe(false);
    expect(readFileSync(join(outside, 'keep.txt'), 'utf8')).toBe('keep');
    const alias = join(top, 'alias');
    symlinkSync(outside, alias);
    for (const path of [alias, `${alias}/`]) {
      const spill = createDefaultSpillWriter({ root: path, startupSweepTtlMs: false });
      await expect(spill.write({ runId: 'r', toolCallId: 'c', extension: 'txt', body: 'x' })).rejects.toThrow();
    }
  });

  it.each(['graphorin-spill:%2e%2e/x', 'graphorin-spill:..%2f..%2fetc/passwd', 'graphorin-spill:run/%00'])(
    'encoded dots are names, not steps: %s',
    async (uri) => {
      mkdirSync(root);
      await expect(createFileResultReader({ artifactRoot: root }).read(uri)).rejects.toThrow('not found');
    },
  );
});
