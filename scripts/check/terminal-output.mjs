/**
 * Writes to the terminal that could pass on control sequences of a page: commands print by `src/terminal/output.ts`. Those that
 * draw, and so write sequences of their own, clean the texts themselves.
 */
const WRITERS = ['src/terminal/output.ts', 'src/cli/progress.ts', 'src/cli/run/run-progress.ts'];
const WRITE = /\b(?:process\.std(?:out|err)\.write|console\.(?:log|info|warn|error))\(/;

export function terminalOutput({ paths, read }) {
  return paths
    .filter((path) => /^(src\/(cli|terminal)|request-client\/commands)\//.test(path) && !WRITERS.includes(path))
    .flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, index) =>
          WRITE.test(line)
            ? [`${path}:${index + 1} writes to the terminal: use print or printError of src/terminal/output.ts`]
            : [],
        ),
    );
}
