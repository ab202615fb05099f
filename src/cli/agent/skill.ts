import { readdirSync, readFileSync } from 'node:fs';
import { didYouMean } from '../../terminal/closest-word.js';
import { SKILL } from '../../terminal/commands/agent-commands.js';
import { UsageError } from '../../terminal/failure.js';
import { print } from '../../terminal/output.js';
import { checkWords, parseWords } from '../../terminal/parse-options.js';
import { asTyped } from '../../terminal/typed-command.js';

const FOLDER = new URL('../../../skills/troupe/', import.meta.url);

/** `troupe skill [NAME]`: prints the skill of this version, or one of its reference files. */
export function runSkill(args: readonly string[]): number {
  const { positionals } = parseWords(args, SKILL);
  checkWords(positionals, ['NAME'], 0);
  const [name] = positionals;
  print(asTyped(readFileSync(name === undefined ? new URL('SKILL.md', FOLDER) : referenceFile(name), 'utf8')));
  return 0;
}

function referenceFile(name: string): URL {
  const folder = new URL('references/', FOLDER);
  const known = readdirSync(folder).map((file) => file.replace(/\.md$/, ''));
  if (!known.includes(name)) throw new UsageError(`There is no reference '${name}'${didYouMean(name, known)}`);
  return new URL(`${name}.md`, folder);
}
