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
