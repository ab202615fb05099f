import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** In `node_modules`: what was installed into it. */
const STAMP = 'node_modules/.troupe-lock';
const WHOLE = ' whole';

/** The folders of the workspaces, which the root's `package.json` names. */
export function workspacesOf(root) {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).workspaces;
}

/**
 * What `npm ci` is to install: what it is told to leave out, and the stamp for it. Null if it is there. The light set-up is
 * what the service takes and what building takes, which the workspaces depend on, but not what tests take. A checkout
 * with more than is wanted will do, and one that had what tests take is installed with it again.
 */
export function missingPackages(root, { tests }) {
  const hash = createHash('sha256');
  for (const folder of ['', ...workspacesOf(root)]) hash.update(dependenciesOf(join(root, folder, 'package.json')));
  hash.update(dependenciesOf(join(root, 'package-lock.json')));
  const file = join(root, STAMP);
  const found = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const isWhole = tests || found.endsWith(WHOLE);
  const stamp = `${hash.digest('hex')}${isWhole ? WHOLE : ' without development packages'}`;
  return found === stamp ? null : { omit: isWhole ? '' : 'dev', stampFile: STAMP, stamp };
}

/** Scripts and texts of package.json may change without another install. */
function dependenciesOf(file) {
  const { dependencies, devDependencies, overrides, packages } = JSON.parse(readFileSync(file, 'utf8'));
  return JSON.stringify({ dependencies, devDependencies, overrides, packages });
}

/**
 * The packages that `npm ci` installs on this machine, by their path in the tree: those of the lock but for other systems,
 * processors and C libraries, and development ones where these are left out.
 */
export function packagesHere(lock, { omit = '' } = {}) {
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path.startsWith('node_modules/') && entry.link !== true)
    .filter(([, entry]) => isForThisMachine(entry) && !(omit === 'dev' && entry.dev === true))
    .map(([path]) => path);
}

/**
 * The packages that an installation of the product takes, by their path in the tree: those of the lock that are reachable from the
 * root's `dependencies`. With `anywhere`, those for other machines too.
 */
export function productionPackages({ packages }, { anywhere = false } = {}) {
  const reached = new Set(['']);
  for (const path of reached) {
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = packages[path];
    const isWanted = (name) => peerDependenciesMeta?.[name]?.optional !== true;
    const names = Object.keys({ ...dependencies, ...optionalDependencies });
    for (const name of [...names, ...Object.keys(peerDependencies ?? {}).filter(isWanted)]) {
      const found = foldersAbove(path).find((folder) => `${folder}node_modules/${name}` in packages);
      if (found !== undefined) reached.add(`${found}node_modules/${name}`);
    }
  }
  return [...reached].filter((path) => path !== '' && (anywhere || isForThisMachine(packages[path]))).sort();
}

/** Where a package is looked for that one in a folder wants, innermost first, as `require` does it. */
export function foldersAbove(path) {
  const names = path === '' ? [] : path.split('/');
  return [...names.map((_, up) => `${names.slice(0, names.length - up).join('/')}/`), ''];
}

function isForThisMachine({ os, cpu, libc }) {
  return accepts(os, process.platform) && accepts(cpu, process.arch) && accepts(libc, 'glibc');
}

function accepts(list, value) {
  if (list === undefined) return true;
  if (list.includes(`!${value}`)) return false;
  const named = list.filter((word) => !word.startsWith('!'));
  return named.length === 0 || named.includes(value);
}
