import { createHash } from 'node:crypto';

const FOLDER = 'node_modules/uWebSockets.js';
const KNOWN = 'scripts/check/server-binaries.json';

/**
 * uWebSockets.js comes as binaries that nobody here has built: each that is installed must be the one that was looked at, by
 * its SHA-256, and the package must name the commit that it says it was built from.
 */
export function serverBinaries({ has, read, readBytes, list }) {
  if (!has(KNOWN) || !has(`${FOLDER}/package.json`)) return [];
  const { version, commit, sha256 } = JSON.parse(read(KNOWN));
  const found = JSON.parse(read(`${FOLDER}/package.json`)).version;
  if (found !== version) return [`${FOLDER} is version ${found}; ${KNOWN} has the checksums of ${version}`];
  const said = read(`${FOLDER}/source_commit`).trim();
  const names = list(FOLDER).filter((name) => name.endsWith('.node'));
  return [
    ...(said === commit ? [] : [`${FOLDER} says that it was built from ${said}, not from ${commit}`]),
    ...names
      .filter(
        (name) =>
          createHash('sha256')
            .update(readBytes(`${FOLDER}/${name}`))
            .digest('hex') !== sha256[name],
      )
      .map((name) => `${FOLDER}/${name} is not the binary of ${KNOWN}`),
  ];
}
