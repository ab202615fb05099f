import { isInRange } from './node-range.mjs';

/** Packages that are built into one file, for a Node of their own: the file is tested with all that Troupe runs on. */
const BUILT_IN = ['node_modules/@readme/httpsnippet'];

/** Installed packages that refuse `nodeVersion`, or whose `engines` cannot be read. */
export function engines({ read, has }, nodeVersion = process.version) {
  const { packages = {} } = JSON.parse(read('package-lock.json'));
  return Object.keys(packages).flatMap((path) => {
    const manifest = `${path}/package.json`;
    // What npm left out belongs to another platform.
    if (!path.startsWith('node_modules/') || BUILT_IN.includes(path) || !has(manifest)) return [];
    const range = JSON.parse(read(manifest)).engines?.node;
    if (typeof range !== 'string') return [];
    const answer = isInRange(nodeVersion, range);
    if (answer === null) return [`${path} wants Node "${range}", which this check cannot read`];
    return answer ? [] : [`${path} wants Node ${range}, and this is ${nodeVersion}`];
  });
}
