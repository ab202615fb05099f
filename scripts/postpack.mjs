// After `npm pack`: makes the package again, with npm-shrinkwrap.json, so that whoever installs it gets the packages of the lock
// file, each compared with its checksum. This is done in a temporary folder: in the checkout, npm-shrinkwrap.json would
// replace package-lock.json for npm, and would stay there when npm is killed.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { productionPackages } from './support/package-trees.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
// npm sets these for its scripts: where the package goes, and in which folder npm was called.
const { npm_config_pack_destination: destination, INIT_CWD: calledIn = root } = process.env;

console.log('npm-shrinkwrap.json is added to the package; npm lists the package without it:');
if (process.env.npm_config_dry_run !== 'true') addShrinkwrap();

function addShrinkwrap() {
  const { name, version } = readJson('package.json');
  const folder = destination ?? calledIn;
  // The name that npm gives it. One without npm-shrinkwrap.json must not stay if this is interrupted.
  rmSync(join(folder, `${name.replace(/^@/, '').replaceAll('/', '-')}-${version}.tgz`));
  const stage = mkdtempSync(join(tmpdir(), 'troupe-package-'));
  try {
    const [{ files }] = Object.values(JSON.parse(npmPack(root, '--dry-run', '--json')));
    for (const { path } of files) {
      mkdirSync(dirname(join(stage, path)), { recursive: true });
      copyFileSync(join(root, path), join(stage, path));
    }
    const lock = readJson('package-lock.json');
    writeJson(join(stage, 'package.json'), ownManifest());
    writeJson(join(stage, 'npm-shrinkwrap.json'), { ...lock, packages: installedPackages(lock) });
    npmPack(stage, `--pack-destination=${folder}`);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** package.json without what is for the checkout alone. */
function ownManifest() {
  const { workspaces, devDependencies, tap, scripts, ...manifest } = readJson('package.json');
  return { ...manifest, scripts: { postinstall: scripts.postinstall } };
}

function installedPackages(lock) {
  const { workspaces, devDependencies, ...manifest } = lock.packages[''];
  const packages = productionPackages(lock, { anywhere: true }).map((path) => [path, lock.packages[path]]);
  return { '': manifest, ...Object.fromEntries(packages) };
}

/** @returns what npm prints to standard output */
function npmPack(cwd, ...options) {
  // The options of the npm that runs this script are not meant.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_config_/i.test(name)));
  const words = ['pack', '--ignore-scripts', '--loglevel=error', ...options];
  const { status, stdout } = spawnSync('npm', words, {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`npm pack failed in ${cwd}`);
  return stdout;
}

function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
