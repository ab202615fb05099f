import { foldersAbove } from '../support/package-trees.mjs';

/** The folders that have a manifest and a lock of their own. */
const FOLDERS = ['', 'test/pages/libraries/', 'test/collectors/', 'test/newman/'];
/** The lock of what the project itself uses. */
const OWN = 'package-lock.json';

/** Packages whose script at the install is known: it is not run by the set-up, and nothing is missing without it. */
const WITH_SCRIPTS = [
  // It only makes its command faster.
  'node_modules/esbuild',
  // It looks for the binary that it has.
  'node_modules/msgpackr-extract',
];

/**
 * What keeps a lock file from being installed elsewhere: packages that it ties to one address, which no other registry or
 * mirror could serve, and those that it names and leaves out, as it does for other platforms where it was written against
 * a mirror that lacks them. `npm ci` refuses the whole of it then. Also packages that run a script when they are installed, which may
 * compile or download anything, and those of a workspace alone, in a folder of its own: two of them want different versions.
 */
export function lockFile({ has, read }) {
  const locks = FOLDERS.filter((folder) => has(`${folder}package-lock.json`)).map((folder) => ({
    file: `${folder}package-lock.json`,
    packages: JSON.parse(read(`${folder}package-lock.json`)).packages ?? {},
  }));
  return locks.flatMap(faultsOf);
}

function faultsOf({ file, packages }) {
  return Object.entries(packages).flatMap(
    ([path, { resolved, dependencies, optionalDependencies, hasInstallScript }]) => {
      const tied = /^(git\+)?(https?|ssh):/.test(resolved ?? '');
      const leftOut = Object.keys({ ...dependencies, ...optionalDependencies }).filter(
        (name) => !foldersAbove(path).some((folder) => `${folder}node_modules/${name}` in packages),
      );
      const runsScript = hasInstallScript && file === OWN && path !== '' && !WITH_SCRIPTS.includes(path);
      const isApart = file === OWN && /^[^/]+\/node_modules\//.test(path);
      return [
        ...(tied ? [`${file}: ${path} is tied to ${resolved}`] : []),
        ...(runsScript
          ? [`${file}: ${path} runs a script when it is installed; replace it by "overrides" in package.json`]
          : []),
        ...(isApart ? [`${file}: ${path} is in another version than elsewhere in the project`] : []),
        ...leftOut.map((name) => `${file}: ${path} wants ${name}, which has no entry`),
      ];
    },
  );
}
