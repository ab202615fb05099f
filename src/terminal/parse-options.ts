import { type ParseArgsConfig, parseArgs } from 'node:util';
import { errorCode, sentenceOf } from '../base/system-fault.js';
import { didYouMean } from './closest-word.js';
import { UsageError } from './failure.js';

type Options = NonNullable<ParseArgsConfig['options']>;

/**
 * The options of a command that takes no other words.
 * @throws UsageError naming the word that is wrong
 */
export function parseOptions<O extends Options>(args: readonly string[], options: O) {
  return asUsage(options, () => parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values);
}

/** The options and the other words of a command. @throws UsageError naming the option that is wrong */
export function parseWords<O extends Options>(args: readonly string[], options: O) {
  return asUsage(options, () => parseArgs({ args: [...args], options, strict: true, allowPositionals: true }));
}

function asUsage<T>(options: Options, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const said = sentenceOf(error);
    const [, word] = /^Unknown option '(-[^']*)'/.exec(said) ?? [];
    if (word === undefined || errorCode(error) !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw new UsageError(said);
    const known = Object.keys(options).map((name) => `--${name}`);
    throw new UsageError(`There is no option '${word}'${didYouMean(word, known)}`);
  }
}
