import { parseArgs } from 'node:util';
import { didYouMean } from './closest-word.js';
import type { Options } from './commands/command.js';
import { UsageError } from './failure.js';

/** Arguments whose text often has spaces, by the names that help gives them. */
const MAY_HAVE_SPACES: ReadonlySet<string> = new Set(['LOCATOR', 'VALUE', 'SCRIPT', 'FILE', 'COLLECTION.json']);

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
  checkOptions(args, options);
  return parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
}

/** What Node's strict parser refuses too, in sentences of its own. */
function checkOptions(args: readonly string[], options: Options): void {
  const known = Object.keys(options).map((name) => `--${name}`);
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined) throw new UsageError(`Unknown option '${rawName}'${didYouMean(rawName, known)}`);
    if (option.type === 'boolean') {
      if (value !== undefined) throw new UsageError(`--${name} takes no value`);
      continue;
    }
    const isOption = inlineValue === false && /^-./s.test(value);
    if (value !== undefined && !isOption) continue;
    const [word = ''] = /^[^=]*/.exec(value ?? '') ?? [];
    const hint = isOption && !known.includes(word) ? `. If the value is '${value}', write --${name}=${value}` : '';
    throw new UsageError(`Missing value: --${name} ${option.value}${hint}`);
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
    const hint = names.some((name) => MAY_HAVE_SPACES.has(name)) ? ': put text with spaces in quotes' : '';
    throw new UsageError(`Unexpected argument '${words[names.length]}'${hint}`);
  }
}

/** For a command that is called without one of its subcommands. */
export function unknownSubcommand(given: string | undefined, known: readonly string[]): UsageError {
  if (given === undefined) return new UsageError(`Missing subcommand. Use one of: ${known.join(', ')}`);
  return new UsageError(`Unknown subcommand '${given}'. Use one of: ${known.join(', ')}`);
}
