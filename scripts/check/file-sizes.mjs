const LIMITS = [
  { lines: 400, applies: (path) => /^(src|web)\/.*\.(ts|js|mjs|svelte|css|html)$/.test(path) },
  { lines: 600, applies: (path) => /^test\/.*\.ts$/.test(path) },
  { lines: 100, applies: (path) => path === 'AGENTS.md' },
];

/** Files with more lines than their kind may have. */
export function fileSizes({ paths, read }) {
  return paths.flatMap((path) => {
    const limit = LIMITS.find(({ applies }) => applies(path));
    if (limit === undefined) return [];
    const lines = read(path).replace(/\n$/, '').split('\n').length;
    return lines > limit.lines ? [`${path} has ${lines} lines; ${limit.lines} are allowed`] : [];
  });
}

/** A folder of src/ or web/ holds at most so many files directly: a newcomer reads its list at a glance. */
const FILES_IN_FOLDER = 20;

/** Folders with more files directly in them than one reads at a glance. */
export function folderSizes({ paths }) {
  const counts = new Map();
  for (const path of paths) {
    if (!/^(src|web)\//.test(path)) continue;
    const folder = path.slice(0, path.lastIndexOf('/'));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > FILES_IN_FOLDER)
    .map(([folder, count]) => `${folder} has ${count} files; ${FILES_IN_FOLDER} are allowed: group them by idea`);
}
