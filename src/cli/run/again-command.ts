import { shellWords, typedCommand } from '../../terminal/typed-command.js';
import type { RunOptions } from './run-options.js';

/**
 * The command that runs one flow again, as this run did: what chose among flows, retried, named or divided the run, and files
 * for collectors are left out. In CI only with what a person elsewhere needs, and without values of arguments,
 * which may be secrets that the CI's log would show.
 * @param file from the folder of the command
 */
export function againCommand(options: RunOptions, file: string, inCi: boolean): string {
  const { flows, data, state, url, own, driver, prompt, model, typedArgs, secretNames, forward } = options;
  const { report, html, trace, video, timeout, actTimeout } = options;
  const flag = (name: string, isGiven: boolean) => (isGiven ? [name] : []);
  const option = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [name, String(value)];
  const words = [
    'run',
    file,
    ...option('--flows', flows),
    ...option('--data', data),
    ...option('--state', state),
    ...option('--prompt', prompt),
    ...option('--model', model),
    ...option('--timeout', timeout),
    ...option('--act-timeout', actTimeout),
    ...flag('--har-bodies', options.harBodies),
    ...option('--screenshots', options.screenshots),
    ...flag('--update-baselines', options.updateBaselines),
    ...flag('--serve-anyway', options.serveAnyway),
    ...typedArgs.flatMap((text) => ['--args', inCi ? text.replace(/=.*$/s, '=…') : text]),
    ...secretNames.flatMap((name) => ['--secret', name]),
    ...(inCi
      ? []
      : [
          ...option('--url', url),
          ...flag('--own', own),
          ...option('--driver', driver),
          ...option('--forward', forward.length === 0 ? undefined : forward.join(',')),
          ...option('--trace', trace),
          ...option('--video', video),
          ...option('--report', report),
          ...option('--html', html),
        ]),
  ];
  return `${typedCommand()} ${shellWords(words)}`;
}
