import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const LOOK_MS = 200;
/** In a log, where each line stays. */
const LINE_MS = 5_000;
/** So few are named. */
const NAMED = 3;

/**
 * Prints how many of the packages have begun to be there, until `end()`: on one line of a terminal, and as a line every few
 * seconds elsewhere.
 *
 * @param folders one for each package, absolute
 */
export function showInstall(folders, out) {
  const startedAt = performance.now();
  const waiting = new Set(folders);
  let lineAt = startedAt;
  const seconds = () => `${Math.round((performance.now() - startedAt) / 1000)} s`;
  const describe = () => {
    for (const folder of waiting) if (existsSync(join(folder, 'package.json'))) waiting.delete(folder);
    const missing =
      waiting.size > 0 && waiting.size <= NAMED ? `, missing: ${[...waiting].map(nameOf).join(', ')}` : '';
    const unpacking = waiting.size === 0 ? ', unpacking' : '';
    return `${folders.length - waiting.size} of ${folders.length} packages, ${seconds()}${missing}${unpacking}`;
  };
  out.write(`Installing ${folders.length} packages ...\n`);
  const timer = setInterval(() => {
    const isDue = performance.now() - lineAt >= LINE_MS;
    if (out.isTTY) out.write(`\r\u001b[K  ${describe().slice(0, Math.max(20, out.columns - 3))}`);
    else if (isDue) {
      lineAt = performance.now();
      out.write(`  ${describe()}\n`);
    }
  }, LOOK_MS);
  return {
    end() {
      clearInterval(timer);
      out.write(`${out.isTTY ? '\r\u001b[K' : ''}  ${describe().replace(/, unpacking$/, '')}\n`);
    },
  };
}

function nameOf(folder) {
  const scope = basename(dirname(folder));
  return scope.startsWith('@') ? `${scope}/${basename(folder)}` : basename(folder);
}
