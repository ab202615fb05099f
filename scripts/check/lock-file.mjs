/** Packages that the lock file ties to one address: they could not be installed through another registry or a mirror. */
export function lockFile({ read }) {
  const { packages = {} } = JSON.parse(read('package-lock.json'));
  return Object.entries(packages)
    .filter(([, { resolved }]) => /^(git\+)?(https?|ssh):/.test(resolved ?? ''))
    .map(([path, { resolved }]) => `package-lock.json: ${path} is tied to ${resolved}`);
}
