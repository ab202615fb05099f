import { type ErrorCode, encodeError } from '../protocol/errors.js';

/** An answer in the form of the W3C WebDriver recommendation, section 6.6. */
export interface W3cAnswer {
  readonly status: number;
  readonly body: unknown;
}

interface W3cError {
  readonly status: number;
  readonly error: string;
}

const INVALID_ARGUMENT: W3cError = { status: 400, error: 'invalid argument' };
const INVALID_SESSION: W3cError = { status: 404, error: 'invalid session id' };

/** Errors that do not depend on the command. */
const BY_CODE: { readonly [Code in ErrorCode]?: W3cError } = {
  INVALID_JSON: INVALID_ARGUMENT,
  INVALID_REQUEST: INVALID_ARGUMENT,
  BODY_TOO_LARGE: INVALID_ARGUMENT,
  METHOD_NOT_ALLOWED: { status: 405, error: 'unknown method' },
  UNAUTHORIZED: { status: 401, error: 'unknown error' },
  FORBIDDEN: { status: 403, error: 'unknown error' },
  FORBIDDEN_ORIGIN: { status: 403, error: 'unknown error' },
  SESSION_ENDED: INVALID_SESSION,
  WORKER_LOST: INVALID_SESSION,
  HARD_TIMEOUT: INVALID_SESSION,
  EVAL_TIMEOUT: { status: 500, error: 'timeout' },
};

/**
 * Any thrown value as a W3C error. `data` has the code of Troupe's own error table.
 * @param command what failed: creating a session, a command of a session, or a path that is no command
 */
export function w3cError(thrown: unknown, command: 'new session' | 'command' | 'unknown'): W3cAnswer {
  const { code, error: message, details } = encodeError(thrown);
  const { status, error } = chosen(code, command);
  const retry = details?.retryAfterSeconds;
  const data = { code, ...(typeof retry === 'number' ? { retryAfterSeconds: retry } : {}) };
  return { status, body: { value: { error, message, stacktrace: '', data } } };
}

function chosen(code: ErrorCode, command: 'new session' | 'command' | 'unknown'): W3cError {
  if (command === 'new session') {
    if (BY_CODE[code] === undefined || BY_CODE[code] === INVALID_SESSION) {
      return { status: 500, error: 'session not created' };
    }
  }
  if (code === 'NOT_FOUND') {
    return command === 'unknown' ? { status: 404, error: 'unknown command' } : INVALID_SESSION;
  }
  return BY_CODE[code] ?? { status: 500, error: 'unknown error' };
}
