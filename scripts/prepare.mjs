// Makes a checkout ready to run: the packages of the lock file, dist/ from src/, and the example flows for a new home.
// Uses nothing but Node and npm, since on a fresh clone there is nothing else. What is up to date costs milliseconds.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const installStamp = join(root, 'node_modules', '.troupe-lock');
const buildStamp = join(root, 'dist', '.troupe-source');

export function prepare() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(`Troupe needs Node 20.19 or later; this is ${process.versions.node}. See https://nodejs.org`);
    process.exit(1);
  }
  const lock = hashOf([join(root, 'package-lock.json')]);
  if (readStamp(installStamp) !== lock) {
    // Not `npm ci`, which begins with an empty folder each time. Without saving, an install keeps to the lock file all the
    // same and leaves it as it is.
    step('Installing packages from the npm registry (about a minute the first time)', 'npm', [
      'install',
      '--no-save',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ]);
    writeFileSync(installStamp, lock);
  }
  const source = hashOf([
    ...filesUnder(join(root, 'src')),
    ...filesUnder(join(root, 'web')),
    join(root, 'scripts', 'build.mjs'),
    installStamp,
  ]);
  if (readStamp(buildStamp) !== source) {
    step('Building', process.execPath, [join(root, 'scripts', 'build.mjs')]);
    writeFileSync(buildStamp, source);
  }
}

/** Gives a home without flows the example flows, as `flows/examples/`. */
export function copyExampleFlows() {
  const flows = join(resolve(process.env.TROUPE_HOME ?? '.'), 'flows');
  if (existsSync(flows)) return;
  mkdirSync(flows, { recursive: true });
  cpSync(join(root, 'examples', 'flows'), join(flows, 'examples'), { recursive: true });
}

function step(title, command, args) {
  const startedAt = Date.now();
  console.log(`${title} ...`);
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error !== undefined || status !== 0) {
    console.error(`${command} ${args.join(' ')} failed${error === undefined ? '' : `: ${error.message}`}`);
    process.exit(1);
  }
  console.log(`  done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
}

function readStamp(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function filesUnder(dir) {
  return readdirSync(dir, { recursive: true })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())
    .sort();
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}
