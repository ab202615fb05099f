import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Pages whose `js` blocks are parts of programs for other libraries. */
const FOREIGN = ['docs/http-api.md', 'docs/moving.md'];

/** A fenced block of a page: a program of TypeScript, or agent JS. */
export interface DocBlock {
  /** As `client-6`: page, and line of its fence. */
  readonly name: string;
  readonly language: 'ts' | 'js';
  readonly text: string;
}

/** The blocks of README.md and docs/: `ts` is a program, `js` a flow or script. */
export function docBlocks(): readonly DocBlock[] {
  const pages = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)].filter(
    (page) => page.endsWith('.md') && !FOREIGN.includes(page),
  );
  return pages.flatMap((page) => {
    const document = readFileSync(page, 'utf8');
    return [...document.matchAll(/^( *)```(ts|js)\n([\s\S]*?)^\1```$/gm)].map(
      ({ index, 2: language, 3: text = '' }) => ({
        name: `${basename(page, '.md')}-${document.slice(0, index).split('\n').length}`,
        language: language === 'ts' ? ('ts' as const) : ('js' as const),
        text,
      }),
    );
  });
}

/** Blocks as files of a folder, by their path. */
export function blockFiles(folder: string, blocks: readonly DocBlock[]): Map<string, string> {
  return new Map(blocks.map(({ name, language, text }) => [join(folder, `${name}.${language}`), text]));
}
