const LINES = 600;

/** Files of more than 600 lines. That is no fault, but the point to ask whether they are one idea. */
export function longFiles({ paths, read }) {
  return paths
    .filter((path) => /^(src|request-client|web|scripts|test)\/.*\.(ts|js|mjs|svelte|css|html)$/.test(path))
    .filter((path) => !path.startsWith('test/pages/'))
    .map((path) => ({ path, lines: read(path).replace(/\n$/, '').split('\n').length }))
    .filter(({ lines }) => lines > LINES)
    .map(({ path, lines }) => `${path} has ${lines} lines: is it one idea?`);
}
