import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from './failure.js';

/**
 * The options of a command that takes no other words.
 * @throws UsageError naming the word that is wrong
 */
export function parseOptions<O extends NonNullable<ParseArgsConfig['options']>>(args: readonly string[], options: O) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
