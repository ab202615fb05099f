import type { RunOptions } from './run-options.js';

/**
 * The command that runs one flow again. In CI only with what a person elsewhere needs, and without values of arguments,
 * which may be secrets that the CI's log would show.
 * @param file from the folder of the command
 */
export function againCommand(options: RunOptions, file: string, inCi: boolean): string {
  const { flows, data, url, own, driver, prompt, model, typedArgs, secretNames, forward, timeout, actTimeout } =
    options;
  const option = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [name, String(value)];
  const words = [
    'troupe',
    'run',
    file,
    ...option('--flows', flows),
    ...option('--data', data),
    ...option('--prompt', prompt),
    ...option('--model', model),
    ...option('--timeout', timeout),
    ...option('--act-timeout', actTimeout),
    ...typedArgs.flatMap((text) => ['--args', inCi ? text.replace(/=.*$/s, '=…') : text]),
    ...secretNames.flatMap((name) => ['--secret', name]),
    ...(inCi
      ? []
      : [
          ...option('--url', url),
          ...(own ? ['--own'] : []),
          ...option('--driver', driver),
          ...option('--forward', forward.length === 0 ? undefined : forward.join(',')),
        ]),
  ];
  return words.map(quoted).join(' ');
}

/** A word as POSIX shells read it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./…-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
