/** The folders that have a manifest and a lock of their own. */
const FOLDERS = ['', 'web/'];

/**
 * What keeps a lock file from being installed elsewhere: packages that it ties to one address, which no other registry or
 * mirror could serve, and those that it names and leaves out, as it does for other platforms where it was written against
 * a mirror that lacks them. `npm ci` refuses the whole of it then. And packages of this project's manifests that two locks
 * have in different versions.
 */
export function lockFile({ has, read }) {
  const locks = FOLDERS.filter((folder) => has(`${folder}package-lock.json`)).map((folder) => ({
    file: `${folder}package-lock.json`,
    packages: JSON.parse(read(`${folder}package-lock.json`)).packages ?? {},
  }));
  return [...locks.flatMap(faultsOf), ...differences(locks)];
}

function faultsOf({ file, packages }) {
  return Object.entries(packages).flatMap(([path, { resolved, dependencies, optionalDependencies }]) => {
    const tied = /^(git\+)?(https?|ssh):/.test(resolved ?? '');
    const leftOut = Object.keys({ ...dependencies, ...optionalDependencies }).filter(
      (name) => !foldersAbove(path).some((folder) => `${folder}node_modules/${name}` in packages),
    );
    return [
      ...(tied ? [`${file}: ${path} is tied to ${resolved}`] : []),
      ...leftOut.map((name) => `${file}: ${path} wants ${name}, which has no entry`),
    ];
  });
}

function differences([first, ...others]) {
  const versionIn = ({ packages }, name) => packages[`node_modules/${name}`]?.version;
  return others.flatMap((other) =>
    Object.keys(other.packages['']?.dependencies ?? {})
      .filter((name) => versionIn(first, name) !== undefined && versionIn(first, name) !== versionIn(other, name))
      .map((name) => `${other.file} has ${name} ${versionIn(other, name)}, ${first.file} ${versionIn(first, name)}`),
  );
}

/** Where a package is looked for that one in a folder wants, innermost first, as `require` does it. */
function foldersAbove(path) {
  const names = path === '' ? [] : path.split('/');
  return [...names.map((_, up) => `${names.slice(0, names.length - up).join('/')}/`), ''];
}
