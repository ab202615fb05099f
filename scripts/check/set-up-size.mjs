import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packagesHere, productionPackages } from '../support/package-trees.mjs';

/** What `npm start` installs, and what the installed package takes of the disk with what it needs. */
const BOUNDS = { packages: 237, megabytes: 350, installedMegabytes: 205 };
const MEGABYTE = 1024 * 1024;

/** Packages and megabytes of the light set-up, and of the installed package, that are over their bounds. */
export function setUpSize({ read, root }) {
  const lock = JSON.parse(read('package-lock.json'));
  const all = packagesHere(lock, { omit: 'dev' });
  const faults = [];
  if (all.length > BOUNDS.packages)
    faults.push(`npm start installs ${all.length} packages; ${BOUNDS.packages} are allowed`);
  // A repository of texts has no sizes.
  if (root === undefined) return faults;
  const sum = (folders) => folders.reduce((bytes, folder) => bytes + sizeOf(join(root, folder)), 0) / MEGABYTE;
  const installed = sum([...productionPackages(lock), 'dist', 'docs', 'examples']);
  const light = sum(all);
  if (light > BOUNDS.megabytes)
    faults.push(`npm start installs ${Math.round(light)} MB; ${BOUNDS.megabytes} are allowed`);
  if (installed > BOUNDS.installedMegabytes)
    faults.push(`the installed package takes ${Math.round(installed)} MB; ${BOUNDS.installedMegabytes} are allowed`);
  return faults;
}

/** What a folder takes of the disk, without the packages in it, which are counted by themselves. */
function sizeOf(folder) {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    // A package for another machine.
    return 0;
  }
  return entries.reduce((bytes, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? bytes : bytes + sizeOf(path);
    return bytes + lstatSync(path).blocks * 512;
  }, 0);
}
