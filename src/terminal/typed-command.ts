import { basename, dirname, relative, sep } from 'node:path';
import { PRODUCT_NAME } from '../protocol/product-name.js';

/** How a process was started, as far as it says how its command was typed. */
export interface Invocation {
  /** The file that Node runs: a link of that name if there is one, such as `/usr/local/bin/troupe`. */
  readonly script: string | undefined;
  readonly cwd: string;
  readonly env: { readonly [name: string]: string | undefined };
}

/** What is typed to run this program here, for commands that it prints: they can be pasted as they are. */
export function typedCommand(
  { script, cwd, env }: Invocation = { script: process.argv[1], cwd: process.cwd(), env: process.env },
): string {
  if (script === undefined) return PRODUCT_NAME;
  const file = basename(script);
  // scripts/start.mjs and scripts/troupe.mjs of a checkout.
  if (basename(dirname(script)) === 'scripts' && ['start.mjs', `${PRODUCT_NAME}.mjs`].includes(file)) {
    return `npm run ${PRODUCT_NAME} --`;
  }
  if (file === PRODUCT_NAME) {
    const folder = dirname(script);
    const isInstalled = folder.endsWith(`${sep}node_modules${sep}.bin`);
    // npm puts this folder on the PATH of what it runs; elsewhere somebody else did.
    const isByNpm = env.npm_command !== undefined;
    if (isInstalled && isByNpm) return `npx ${PRODUCT_NAME}`;
    return (env.PATH ?? '').split(':').includes(folder) ? PRODUCT_NAME : pathFrom(cwd, script);
  }
  return file === 'cli.js' ? `node ${pathFrom(cwd, script)}` : PRODUCT_NAME;
}

/** @param text of our own, in which commands begin with the name of the program */
export function asTyped(text: string): string {
  return text.replace(
    new RegExp(`(?<![\\w./-])${PRODUCT_NAME} (?=[a-z<]|-(?!- ))(?!https?:)`, 'g'),
    () => `${typedCommand()} `,
  );
}

/** Words as POSIX shells read them. */
export function shellWords(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./…-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A file as one types it in a folder; with its whole path if it is not below it. */
function pathFrom(folder: string, file: string): string {
  const path = relative(folder, file);
  if (path.startsWith('..')) return shellWord(file);
  return shellWord(path.includes(sep) ? path : `./${path}`);
}
