import { readFileSync } from 'node:fs';
import { sentenceOf } from '../base/system-fault.js';
import { TroupeError } from '../protocol/errors.js';

/**
 * A secret that the configuration names by its environment variable: the variable's value, else the content of the file that
 * `<name>_FILE` names, which is how Docker and Kubernetes bring secrets. The line end after it is not part of it.
 * @returns undefined if neither is set, or the value is empty
 * @throws INVALID_REQUEST if both are set, or the file cannot be read
 */
export function secretValue(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const [value, file] = [env[name] || undefined, env[`${name}_FILE`] || undefined];
  if (file === undefined) return value;
  if (value !== undefined)
    throw new TroupeError('INVALID_REQUEST', `Both ${name} and ${name}_FILE are set: remove one of them`);
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '') || undefined;
  } catch (error) {
    const why = sentenceOf(error);
    throw new TroupeError('INVALID_REQUEST', `${name}_FILE names ${file}, which cannot be read: ${why}`, undefined, {
      cause: error,
    });
  }
}
