import { parseArgs } from 'node:util';
import { errorCode, sentenceOf } from '../base/system-fault.js';
import { didYouMean } from './closest-word.js';
import type { Options } from './commands/command.js';
import { UsageError } from './failure.js';

/** An entry of the table of commands. */
interface Parsed<O extends Options> {
  readonly options: O;
}

/**
 * The options of a command that takes no other words.
 * @throws UsageError naming the word that is wrong
 */
export function parseOptions<O extends Options>(args: readonly string[], command: Parsed<O>) {
  const { values, positionals } = parseWords(args, command);
  checkWords(positionals, []);
  return values;
}

/** The options and the other words of a command. @throws UsageError naming the option that is wrong */
export function parseWords<O extends Options>(args: readonly string[], { options }: Parsed<O>) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
  } catch (error) {
    const said = sentenceOf(error);
    const [, word] = /^Unknown option '(-[^']*)'/.exec(said) ?? [];
    if (word === undefined || errorCode(error) !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw new UsageError(said);
    const known = Object.keys(options).map((name) => `--${name}`);
    throw new UsageError(`Unknown option '${word}'${didYouMean(word, known)}`);
  }
}

/**
 * Checks the words that are no options against the names of those that a command takes.
 * @param least how many must be there; by default all
 * @throws UsageError naming what is missing, or the first that is one too many
 */
export function checkWords(words: readonly string[], names: readonly string[], least = names.length): void {
  const missing = names.slice(words.length, least);
  if (missing.length > 0) throw new UsageError(`Missing argument: ${missing.join(' ')}`);
  if (words.length > names.length) {
    const hint = names.length > 0 ? ': put text with spaces in quotes' : '';
    throw new UsageError(`Unexpected argument '${words[names.length]}'${hint}`);
  }
}

/** For a command that is called without one of its subcommands. */
export function unknownSubcommand(given: string | undefined, known: readonly string[]): UsageError {
  if (given === undefined) return new UsageError(`Missing argument: ${known.join(', ')}`);
  return new UsageError(`Unknown subcommand '${given}'. Use one of: ${known.join(', ')}`);
}
