import { TroupeError } from '#troupe/protocol/errors.js';

/** Why there is no token; `details.cause` of LOGIN_FAILED. */
export type LoginFailure =
  /** A field is missing or wrong; nothing was sent. */
  | 'SETTINGS'
  /** All callback ports are in use. */
  | 'PORTS_TAKEN'
  /** The browser could not be opened. */
  | 'NO_BROWSER'
  /** The login was not completed in time. */
  | 'TIMED_OUT'
  /** The provider sent an error to the callback. */
  | 'DENIED'
  /** The browser came back with what is not the answer to this login. */
  | 'CALLBACK_REFUSED'
  /** The token endpoint refused, or did not return a token. */
  | 'TOKEN_REFUSED';

/** LOGIN_FAILED with a message that names the remedy. Never contains a token or a secret. */
export function loginFailed(
  cause: LoginFailure,
  why: string,
  more: { readonly [key: string]: unknown } = {},
): TroupeError {
  return new TroupeError('LOGIN_FAILED', `No access token: ${why}`, { cause, ...more });
}
