import { type ParseArgsConfig, parseArgs } from 'node:util';
import { sentenceOf } from '../base/system-fault.js';
import { UsageError } from './failure.js';

type Options = NonNullable<ParseArgsConfig['options']>;

/**
 * The options of a command that takes no other words.
 * @throws UsageError naming the word that is wrong
 */
export function parseOptions<O extends Options>(args: readonly string[], options: O) {
  return asUsage(() => parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values);
}

/** The options and the other words of a command. @throws UsageError naming the option that is wrong */
export function parseWords<O extends Options>(args: readonly string[], options: O) {
  return asUsage(() => parseArgs({ args: [...args], options, strict: true, allowPositionals: true }));
}

function asUsage<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(sentenceOf(error));
  }
}
