import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** In each `node_modules`: what was installed into it. */
const STAMP = '.troupe-lock';
const WHOLE = ' whole';

/**
 * The folders with a manifest and a lock of their own, and the kinds of packages that are left out of the light set-up: what
 * the service takes and what building takes, but not what tests take.
 */
const TREES = [
  { folder: '', isTestsToo: true },
  { folder: 'web', isTestsToo: false },
];

/**
 * The trees that are not installed as they are wanted: where each is, what `npm ci` is told to leave out, and the stamp for
 * it. A tree with more than is wanted will do, and one that had what tests take is installed with it again.
 */
export function missingTrees(root, { tests }) {
  return TREES.flatMap(({ folder, isTestsToo }) => {
    const hash = createHash('sha256');
    for (const name of ['package.json', 'package-lock.json']) hash.update(dependenciesOf(join(root, folder, name)));
    const digest = hash.digest('hex');
    const stampFile = join('node_modules', STAMP);
    const file = join(root, folder, stampFile);
    const found = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const isWhole = !isTestsToo || tests || found.endsWith(WHOLE);
    const stamp = `${digest}${isWhole ? WHOLE : ' without development packages'}`;
    return found === stamp ? [] : [{ folder, omit: isWhole ? '' : 'dev', stampFile, stamp }];
  });
}

/** Scripts and texts of package.json may change without another install. */
function dependenciesOf(file) {
  const { dependencies, devDependencies, overrides, packages } = JSON.parse(readFileSync(file, 'utf8'));
  return JSON.stringify({ dependencies, devDependencies, overrides, packages });
}

/**
 * The packages that `npm ci` installs on this machine, by their path in the tree: those of the lock but for other systems,
 * processors and C libraries, and development ones where these are left out. With `anywhere`, those for other machines too.
 */
export function packagesHere(lock, { omit = '', anywhere = false } = {}) {
  const accepts = (list, value) => {
    if (list === undefined) return true;
    if (list.includes(`!${value}`)) return false;
    const named = list.filter((word) => !word.startsWith('!'));
    return named.length === 0 || named.includes(value);
  };
  return Object.entries(lock.packages)
    .filter(([path, { dev, os, cpu, libc }]) => {
      if (path === '' || (omit === 'dev' && dev === true)) return false;
      return anywhere || (accepts(os, process.platform) && accepts(cpu, process.arch) && accepts(libc, 'glibc'));
    })
    .map(([path]) => path);
}
