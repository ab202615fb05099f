// `npm run bundle`: an MCP bundle (.mcpb) of this version, for this system and processor: the package, what it needs, and a
// manifest. Clients that take bundles run `troupe mcp` from it. https://github.com/modelcontextprotocol/mcpb
import { createWriteStream, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { prepare } from './prepare.mjs';
import { bundleManifest } from './support/bundle-manifest.mjs';
import { productionPackages } from './support/package-trees.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const FOLDERS = ['dist', 'examples', 'skills'];
const FILES = ['package.json', 'LICENSE', 'CHANGELOG.md'];

await prepare();
const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const manifest = bundleManifest(read('package.json'), process);
const file = join(root, `troupe-${manifest.version}-${process.platform}-${process.arch}.mcpb`);
// Not before the packages are installed.
const { ZipArchive } = await import('archiver');
const zip = new ZipArchive({ zlib: { level: 6 } });
zip.append(`${JSON.stringify(manifest, null, 2)}\n`, { name: 'manifest.json' });
for (const name of FILES) zip.file(join(root, name), { name });
for (const name of FOLDERS) zip.directory(join(root, name), name);
for (const path of productionPackages(read('package-lock.json'))) {
  // A package within another has an entry of its own.
  zip.directory(join(root, path), path, (entry) => (/(^|\/)node_modules\//.test(entry.name) ? false : entry));
}
await Promise.all([pipeline(zip, createWriteStream(file)), zip.finalize()]);
console.log(`${file}, ${((await stat(file)).size / 1_000_000).toFixed(1)} MB`);
