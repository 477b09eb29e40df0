// A package registry for tests: serves the tarballs of a folder, on a port it prints, until it is ended.
//
//   node registry.mjs FOLDER
//
// FOLDER/index.json lists `{ file, manifest }`: what `npm pack` made, and the package.json inside.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const folder = process.argv[2];
const packages = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'));

const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url, 'http://registry').pathname.slice(1));
  const tarball = packages.find(({ file }) => path === `-/${file}`);
  if (tarball) {
    response.end(readFileSync(join(folder, tarball.file)));
    return;
  }
  const found = packages.find(({ manifest }) => manifest.name === path);
  if (!found) {
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}');
    return;
  }
  const { file, manifest } = found;
  const integrity = `sha512-${createHash('sha512').update(readFileSync(join(folder, file))).digest('base64')}`;
  const dist = { tarball: `http://127.0.0.1:${server.address().port}/-/${file}`, integrity };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ name: manifest.name, 'dist-tags': { latest: manifest.version }, versions: { [manifest.version]: { ...manifest, dist } } }));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
