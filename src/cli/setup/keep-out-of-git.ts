import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { printError } from '../../terminal/output.js';

const GIT_MS = 5_000;

/** Takes a sentence for a person. */
export type Say = (sentence: string) => void;

const sayOnTerminal: Say = (sentence) => printError(`${sentence}\n`);

/** What a service writes into its home, besides flows: keys, tokens, what pages showed. */
const PRIVATE = ['batches/', 'service.json', 'sessions/', 'tmp/', 'troupe.db', 'troupe.key', 'troupe.lock'];

/** The lines for a `.gitignore` in a home. A service's files have others beside them while they are written. */
const LINES = PRIVATE.map((path) => (path.endsWith('/') ? `/${path}` : `/${path}*`));

/**
 * Sees that `git add` takes nothing private of a home that lies in a checkout: writes a `.gitignore` if the home has none, else
 * warns of what it leaves out. Does nothing where there is no checkout, or no git.
 * @param say takes what a person should know
 */
export async function keepOutOfGit(home: string, say: Say = sayOnTerminal): Promise<void> {
  if (!isInCheckout(home)) return;
  const ignored = await ignoredPaths(home);
  if (ignored === null) return;
  const lines = LINES.filter((_, index) => !ignored.has(PRIVATE[index] ?? ''));
  if (lines.length === 0) return;
  const file = join(home, '.gitignore');
  try {
    await writeFile(file, `# What Troupe writes here.\n${LINES.join('\n')}\n`, { flag: 'wx' });
    say(`Wrote ${file}, so that git add takes none of the service's own files`);
  } catch {
    say(`warning: git add would take files of the service, such as its key: add to ${file}: ${lines.join(' ')}`);
  }
}

function isInCheckout(folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return true;
  return dirname(folder) !== folder && isInCheckout(dirname(folder));
}

/** Which of the private paths git ignores; null if git does not say. */
function ignoredPaths(home: string): Promise<ReadonlySet<string> | null> {
  return new Promise((settle) => {
    execFile(
      'git',
      ['-C', home, 'check-ignore', '--no-index', '--', ...PRIVATE],
      { timeout: GIT_MS },
      (error, output) => {
        // 1: none of them.
        if (error !== null && error.code !== 1) settle(null);
        else settle(new Set(output.split('\n')));
      },
    );
  });
}
