// Before `npm pack` and `npm publish`: builds, and writes npm-shrinkwrap.json, so that whoever installs the package gets the
// packages of the lock file, each compared with its checksum. `postpack.mjs` removes it again.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { prepare } from './prepare.mjs';
import { packagesOfService } from './support/package-trees.mjs';

// Files of sources that are gone must not be in the package.
rmSync('dist', { recursive: true, force: true });
await prepare({ tests: true });
// The types of the client library: the build does without a compiler, which npm start does not install.
const types = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.client.json'], {
  stdio: 'inherit',
});
if (types.status !== 0) process.exit(1);
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const { devDependencies, ...manifest } = lock.packages[''];
const packages = { '': manifest };
for (const path of packagesOfService(lock, { anywhere: true })) packages[path] = lock.packages[path];
writeFileSync('npm-shrinkwrap.json', `${JSON.stringify({ ...lock, packages }, null, 2)}\n`);
