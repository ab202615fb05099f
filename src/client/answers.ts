import { TroupeError } from '../protocol/errors.js';

/**
 * An answer of the service as the type that the contract gives it. Checks only that it is an object with these members:
 * the schemas themselves would be a dependency.
 * @throws UNAVAILABLE for anything else, such as the page of a proxy
 */
export function answerAs<T extends object>(value: unknown, ...members: readonly (keyof T & string)[]): T {
  const isIt = typeof value === 'object' && value !== null && members.every((member) => member in value);
  if (isIt) return value as T;
  throw new TroupeError('UNAVAILABLE', `The answer does not come from a Troupe service: ${JSON.stringify(value)}`);
}

/** The same for a list. @throws UNAVAILABLE */
export function listAs<T extends object>(value: unknown, ...members: readonly (keyof T & string)[]): readonly T[] {
  if (Array.isArray(value)) return value.map((one) => answerAs<T>(one, ...members));
  throw new TroupeError('UNAVAILABLE', 'The answer does not come from a Troupe service: it is not a list');
}
