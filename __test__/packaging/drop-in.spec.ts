// An app written for the package we replace runs on ours with three lines of its package.json changed.
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command, createApp, root } from './app.js';
import type { App } from './app.js';

const example = join(root, 'examples', 'drop-in');
let app: App;
beforeAll(() => {
  app = createApp('drop-in', '@graphorin/tools', {
    '@graphorin/security': join(example, 'packages', 'security'),
    '@graphorin/core': join(example, 'packages', 'core'),
  });
  copyFileSync(join(example, 'app.mjs'), join(app.folder, 'app.mjs'));
});
afterAll(() => app?.remove());

describe('examples/drop-in', () => {
  test('the app does not know us', () => {
    expect(readFileSync(join(example, 'app.mjs'), 'utf8')).not.toMatch(/ferrule/i);
  });

  test('it runs, and every part of it is as expected', () => {
    const ended = command(process.execPath, ['app.mjs'], { cwd: app.folder, timeout: 60_000 });
    expect(ended.stderr).toBe('');
    expect(ended.stdout.trimEnd().split('\n')).toEqual(['registry', 'executor', 'results', 'code mode', 'data flow'].map((part) => `ok ${part}`));
    expect(ended.status).toBe(0);
  });

  test('there is one copy of every class, whichever name it is reached by', () => {
    app.write(
      'classes.mjs',
      `import { GraphorinSecretsError } from '@graphorin/security/secrets';
       import { UnsupportedSandboxKindError } from '@graphorin/security/sandbox';
       console.log(UnsupportedSandboxKindError.prototype instanceof GraphorinSecretsError);`,
    );
    expect(command(process.execPath, ['classes.mjs'], { cwd: app.folder }).stdout).toBe('true\n');
  });
});
