/**
 * Dependencies that no file of docs/decisions/ names in backticks: a new one gets a dated paragraph that says what was
 * compared and measured. `@types/x` stands or falls with x.
 */
export function decidedDependencies({ paths, has, read }) {
  const named = ['package.json', 'request-client/package.json', 'web/package.json'].filter(has).flatMap((file) => {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read(file));
    return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  });
  const decisions = paths
    .filter((path) => /^docs\/decisions\/.*\.md$/.test(path))
    .map(read)
    .join('\n');
  return [...new Set(named)]
    .filter((name) => !name.startsWith('@types/') && !decisions.includes(`\`${name}\``))
    .map((name) => `docs/decisions/ has no paragraph about \`${name}\``);
}
