const WITH_SCRIPTS = [
  // It only makes its command faster.
  'node_modules/esbuild',
  // It looks for the binary that it has.
  'node_modules/msgpackr-extract',
];

/**
 * What keeps the lock file from being installed elsewhere: packages that it ties to one address, which no other registry or
 * mirror could serve, and those that it names and leaves out, as it does for other platforms where it was written against
 * a mirror that lacks them. `npm ci` refuses the whole of it then. And packages that run a script when they are installed,
 * which may compile or download anything.
 */
export function lockFile({ read, has }) {
  return LOCK_FILES.filter(has).flatMap((file) => faultsOf(file, JSON.parse(read(file))));
}

function faultsOf(file, { packages = {} }) {
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

/** Where a package is looked for that one in a folder wants, innermost first, as `require` does it. */
function foldersAbove(path) {
  const names = path === '' ? [] : path.split('/');
  return [...names.map((_, up) => `${names.slice(0, names.length - up).join('/')}/`), ''];
}
