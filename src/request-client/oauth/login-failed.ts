import { TroupeError } from '../../protocol/errors.js';

/** Why there is no token; `details.cause` of LOGIN_FAILED. */
export type LoginFailure =
  /** A field is missing or wrong; nothing was sent. */
  | 'SETTINGS'
  /** All callback ports are in use. */
  | 'PORTS_TAKEN'
  /** The browser could not be opened. */
  | 'NO_BROWSER'
  /** Nobody came back from the login page in time. */
  | 'TIMED_OUT'
  /** The provider sent an error to the callback. */
  | 'DENIED'
  /** The token endpoint refused, or answered with something else than a token. */
  | 'TOKEN_REFUSED';

/** LOGIN_FAILED with a sentence that tells the remedy. Never has a token or a secret in it. */
export function loginFailed(
  cause: LoginFailure,
  why: string,
  more: { readonly [key: string]: unknown } = {},
): TroupeError {
  return new TroupeError('LOGIN_FAILED', `No access token: ${why}`, { cause, ...more });
}
