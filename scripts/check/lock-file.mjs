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
export function lockFile({ read }) {
  const { packages = {} } = JSON.parse(read('package-lock.json'));
  return Object.entries(packages).flatMap(
    ([path, { resolved, dependencies, optionalDependencies, hasInstallScript }]) => {
      const tied = /^(git\+)?(https?|ssh):/.test(resolved ?? '');
      const leftOut = Object.keys({ ...dependencies, ...optionalDependencies }).filter(
        (name) => !foldersAbove(path).some((folder) => `${folder}node_modules/${name}` in packages),
      );
      return [
        ...(tied ? [`package-lock.json: ${path} is tied to ${resolved}`] : []),
        ...(hasInstallScript && !WITH_SCRIPTS.includes(path)
          ? [`package-lock.json: ${path} runs a script when it is installed; replace it by "overrides" in package.json`]
          : []),
        ...leftOut.map((name) => `package-lock.json: ${path} wants ${name}, which has no entry`),
      ];
    },
  );
}

/** Where a package is looked for that one in a folder wants, innermost first, as `require` does it. */
function foldersAbove(path) {
  const names = path === '' ? [] : path.split('/');
  return [...names.map((_, up) => `${names.slice(0, names.length - up).join('/')}/`), ''];
}
