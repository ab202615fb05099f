import { plainText } from './json-text.js';
import { slice, words } from './primordials.js';

/** Longer lines are truncated. */
const MAX_LINE = 10_000;

/** The `console` of scripts: each call is one ConsoleWritten event. */
export function installConsole(wrote: (level: string, text: string) => void): object {
  const writer =
    (level: string) =>
    (...values: unknown[]): void => {
      let text = '';
      for (let i = 0; i < values.length && text.length < MAX_LINE; i += 1) {
        const value = values[i] === undefined ? 'undefined' : plainText(values[i]);
        text += i === 0 ? value : words` ${value}`;
      }
      wrote(level, text.length > MAX_LINE ? words`${slice(text, 0, MAX_LINE)}...` : text);
    };
  return {
    log: writer('log'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
    debug: writer('debug'),
  };
}
