import { TroupeError } from '../../protocol/errors.js';
import { asObject, enabledPairs, member, textOf } from './json-access.js';

/**
 * The variables of a Postman environment file (`values`), or of a plain JSON object of names and values.
 * @throws INVALID_REQUEST where it is neither
 */
export function environmentOf(text: string): Map<string, string> {
  const root = parsed(text);
  const values = member(root, 'values');
  if (Array.isArray(values)) return new Map(enabledPairs(values).map(({ key, value }) => [key, value]));
  const object = asObject(root);
  if (object === undefined) throw new TroupeError('INVALID_REQUEST', 'The environment is no JSON object');
  return new Map(
    Object.entries(object).flatMap(([name, value]) => {
      const own = textOf(value);
      return own === undefined ? [] : [[name, own]];
    }),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new TroupeError('INVALID_REQUEST', 'The environment is no JSON');
  }
}
