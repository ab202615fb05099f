// Makes a checkout ready to run: the packages of its lock file, and dist/ from src/, request-client/ and web/. Uses nothing but Node and npm,
// since on a fresh clone there is nothing else. What is up to date costs milliseconds.
import './node-version.cjs';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages } from './support/install-packages.mjs';
import { missingPackages, workspacesOf } from './support/package-trees.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const buildStamp = join(root, 'dist', '.troupe-source');

/**
 * Installs what is missing and builds what has changed. Ends the process with a sentence where that cannot be done.
 *
 * @param options.tests also installs what tests, checks and benchmarks use; without it, what running and building take
 */
export async function prepare({ tests = false } = {}) {
  const isMissing = missingPackages(root, { tests }) !== null;
  try {
    if (isMissing) await installPackages(root, { tests });
    // Left by a version in which these folders had packages of their own.
    for (const folder of workspacesOf(root)) {
      rmSync(join(root, folder, 'node_modules'), { recursive: true, force: true });
    }
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
  const source = hashOf([
    ...['src', 'request-client', 'web'].flatMap((folder) => filesUnder(join(root, folder))),
    join(root, 'package-lock.json'),
    join(root, 'scripts', 'build.mjs'),
  ]);
  if (!existsSync(buildStamp) || readFileSync(buildStamp, 'utf8') !== source) {
    build();
    writeFileSync(buildStamp, source);
  }
  if (!isMissing) return;
  const { removeUnusedBinaries } = await import('../dist/cli/setup/unused-binaries.js');
  await removeUnusedBinaries();
}

function build() {
  const startedAt = Date.now();
  console.log('Building ...');
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
  console.log(`  done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
}

function filesUnder(dir) {
  return readdirSync(dir, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules' && name !== 'test')
    .flatMap((entry) => {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) return filesUnder(path);
      return statSync(path).isFile() ? [path] : [];
    })
    .sort();
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}
