import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { showInstall } from './install-progress.mjs';
import { missingPackages, packagesHere, workspacesOf } from './package-trees.mjs';
import { assertRegistry } from './registry.mjs';

/** Packages are installed here and moved into place when they are whole. */
const STAGE = '.packages';
const FILES = ['package.json', 'package-lock.json', '.npmrc'];

/**
 * Installs the packages that are missing, with `npm ci`, into a folder of its own, and puts them in place when they are
 * whole: a failure leaves what was there, and a service that runs from it goes on. Install scripts of packages do not run;
 * none of them is needed. Prints how far it is.
 *
 * @throws Error with one sentence: no registry answers, or npm failed
 */
export async function installPackages(root, wanted) {
  const stage = join(root, STAGE);
  await takeTurn(stage);
  try {
    const missing = missingPackages(root, wanted);
    if (missing === null) return;
    await assertRegistry(root);
    for (const file of [...FILES, ...workspacesOf(root).map((folder) => `${folder}/package.json`)]) {
      mkdirSync(dirname(join(stage, file)), { recursive: true });
      cpSync(join(root, file), join(stage, file));
    }
    const lock = JSON.parse(readFileSync(join(stage, 'package-lock.json'), 'utf8'));
    const progress = showInstall(
      packagesHere(lock, missing).map((path) => join(stage, path)),
      process.stdout,
    );
    try {
      const { code, output } = await npmCi(stage, missing);
      if (code !== 0) throw new Error(`npm ci failed:\n${output}`);
    } finally {
      progress.end();
    }
    putInPlace(root, stage, missing);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** Waits for another set-up of this checkout, as long as its process is there. */
async function takeTurn(stage) {
  for (let isWaiting = false; ; ) {
    try {
      mkdirSync(stage);
      writeFileSync(join(stage, 'pid'), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw new Error(`Packages cannot be installed here: ${error.message}`);
    }
    const pid = Number(existsSync(join(stage, 'pid')) ? readFileSync(join(stage, 'pid'), 'utf8') : 0);
    if (!isRunning(pid)) {
      rmSync(stage, { recursive: true, force: true });
      continue;
    }
    if (!isWaiting) console.log(`Waiting for process ${pid}, which installs packages here ...`);
    isWaiting = true;
    await pause(500);
  }
}

function isRunning(pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

async function npmCi(cwd, { omit }) {
  const args = [
    'ci',
    '--dry-run=false',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-progress',
    '--loglevel=error',
  ];
  if (omit !== '') args.push(`--omit=${omit}`);
  const child = spawn('npm', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-4_000);
    });
  }
  try {
    const [code] = await once(child, 'close');
    return { code, output };
  } catch (error) {
    return { code: 1, output: error.message };
  }
}

function putInPlace(root, stage, { stampFile, stamp }) {
  const made = join(stage, 'node_modules');
  const there = join(root, 'node_modules');
  writeFileSync(join(stage, stampFile), stamp);
  if (existsSync(there)) moveAway(there, join(stage, 'old'));
  renameSync(made, there);
}

function moveAway(there, aside) {
  try {
    renameSync(there, aside);
  } catch {
    // Where it lies in a lower layer of a container's file system it cannot be moved.
    rmSync(there, { recursive: true, force: true });
  }
}
