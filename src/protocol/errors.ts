import { systemFault } from '../base/system-fault.js';

/**
 * The table of error codes. Every response that is not a success has the shape of {@link ErrorBody} and the status of
 * this
 * table. Errors are matched by `code`, never by text or class: an error from another thread keeps only what
 * {@link encodeError} includes.
 */
export const ERROR_TABLE = {
  INVALID_JSON: { status: 400, meaning: 'The body is not JSON' },
  INVALID_REQUEST: { status: 400, meaning: 'A field is missing, unknown, or of the wrong type; details name it' },
  AUTONOMY_OFF: { status: 400, meaning: 'The task needs a model and no model is configured' },
  MODEL_NOT_ALLOWED: { status: 400, meaning: 'The model is not in the configured list' },
  MISSING_API_KEY: { status: 400, meaning: 'The environment variable with the provider key is not set' },
  UNAUTHORIZED: { status: 401, meaning: 'A token is needed, or the token is not valid' },
  FORBIDDEN: { status: 403, meaning: 'The role of the token does not allow this' },
  FORBIDDEN_ORIGIN: { status: 403, meaning: 'The Host or Origin header does not name this service' },
  NOT_FOUND: { status: 404, meaning: 'There is no such route, session, job, or file' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The route exists, but not with this method; see Allow' },
  SESSION_ENDED: { status: 409, meaning: 'The session has ended; its record and artifacts can still be read' },
  SESSION_BUSY: { status: 409, meaning: 'The session belongs to a job, or someone else has control' },
  CLAIM_LOST: { status: 409, meaning: 'The claim on a flow of a joined batch has ended; nothing was changed' },
  PRECONDITION_FAILED: { status: 412, meaning: 'The file is not the one that If-Match or If-None-Match names' },
  BODY_TOO_LARGE: { status: 413, meaning: 'The body is larger than the route allows' },
  SCRIPT_ERROR: { status: 422, meaning: 'The script threw an error, or could not be parsed' },
  MATCH_FAILED: { status: 422, meaning: 'match() or agent.expect() found a difference; details show it' },
  LOCATOR_NOT_FOUND: { status: 422, meaning: 'No visible element matches the locator' },
  LOCATOR_AMBIGUOUS: { status: 422, meaning: 'Several visible elements match the locator; details list them' },
  LOCATOR_STALE: { status: 422, meaning: 'The element of a numbered locator is gone or is another one now' },
  ACTION_FAILED: { status: 422, meaning: 'The action could not be performed on the element' },
  FLOW_NOT_FOUND: { status: 422, meaning: 'The flow file does not exist (400 if a job is submitted)' },
  WAIT_TIMEOUT: { status: 422, meaning: 'The condition of a wait was not met in time' },
  REQUEST_FAILED: { status: 422, meaning: 'A request of the request client got no answer; details.cause says why' },
  LOGIN_FAILED: { status: 422, meaning: 'No access token could be obtained; the message says what to do' },
  CAPACITY: { status: 429, meaning: 'A limit is reached; try again after Retry-After seconds' },
  INTERNAL: { status: 500, meaning: 'A bug in the service' },
  WORKER_LOST: { status: 502, meaning: 'The browser of the session crashed or was killed' },
  NODE_LOST: { status: 502, meaning: 'The node that ran the session is gone, or does not answer' },
  SESSION_RESTARTED: { status: 502, meaning: 'The session was restarted during the call' },
  UNAVAILABLE: { status: 503, meaning: 'The service is stopping, or a part of it does not answer' },
  EVAL_TIMEOUT: { status: 504, meaning: 'The script did not end by its deadline' },
  TASK_FAILED: { status: 422, meaning: 'A job ended: its model reported that the task failed' },
  FLOW_FAILED: { status: 422, meaning: 'A job ended: a flow failed' },
  MAX_ITERATIONS: { status: 422, meaning: 'A job ended: it used up its iterations or tokens' },
  MODEL_ERROR: { status: 422, meaning: 'A job ended: the model could not be reached' },
  HARD_TIMEOUT: { status: 422, meaning: 'A session ended: it ran longer than hardTimeout' },
  INTERRUPTED: { status: 422, meaning: 'A job ended: the service stopped during a flow' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof ERROR_TABLE;

/** Information beyond the error's message; plain JSON. */
export type ErrorDetails = { readonly [key: string]: unknown };

/** An error in HTTP responses, records, and events. */
export interface ErrorBody {
  readonly error: string;
  readonly code: ErrorCode;
  readonly details?: ErrorDetails;
}

/** The only error class. `retryAfterSeconds` in details becomes the Retry-After header, `allow` the Allow header. */
export class TroupeError extends Error {
  override readonly name = 'TroupeError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;

  constructor(code: ErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERROR_TABLE, value);
}

/**
 * Converts any thrown value to an {@link ErrorBody}, which can be sent between threads, journaled, and returned to
 * clients. A value without one of our codes becomes INTERNAL with its message, without its stack. A system fault, such
 * as a
 * full disk, becomes UNAVAILABLE, wherever it occurred.
 */
export function encodeError(thrown: unknown): ErrorBody {
  const fault = systemFault(thrown);
  if (fault !== null) return { error: fault.sentence, code: 'UNAVAILABLE', details: { cause: fault.cause } };
  if (thrown instanceof Error) {
    const code: unknown = Reflect.get(thrown, 'code');
    const details: unknown = Reflect.get(thrown, 'details');
    return {
      error: thrown.message,
      code: isErrorCode(code) ? code : 'INTERNAL',
      ...(isDetails(details) && isErrorCode(code) ? { details } : {}),
    };
  }
  return { error: String(thrown), code: 'INTERNAL' };
}

/** The inverse of {@link encodeError}. */
export function decodeError(body: ErrorBody): TroupeError {
  return new TroupeError(body.code, body.error, body.details);
}

function isDetails(value: unknown): value is ErrorDetails {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Errors after which another attempt at a job may succeed. An unreachable model is not among them: the call was repeated
 * already, and fallbacks were tried; nor is a used-up number of answers.
 */
const RETRIED_CODES: ReadonlySet<ErrorCode> = new Set([
  'FLOW_FAILED',
  'TASK_FAILED',
  'HARD_TIMEOUT',
  'WORKER_LOST',
  'INTERRUPTED',
]);

/** Codes of failures that are not the flow's: what ran it was lost before the flow ended. */
const LOST: ReadonlySet<ErrorCode> = new Set(['NODE_LOST', 'INTERRUPTED']);

/** Whether a job that failed like this left its flow without a result. */
export function isLost(failure: { readonly code: ErrorCode } | null): boolean {
  return failure !== null && LOST.has(failure.code);
}

/** Mistakes in a flow's own code, which fail in the same way each time. */
const MISTAKE = /^(?:Syntax|Type|Reference)Error\b/;

/** Whether another attempt at a job that ended with this error may succeed. */
export function mayPassAgain({ code, details }: { readonly code: ErrorCode; readonly details?: unknown }): boolean {
  return RETRIED_CODES.has(code) && !isMistake(Reflect.get(Object(details), 'cause'));
}

function isMistake(cause: unknown): boolean {
  const code: unknown = Reflect.get(Object(cause), 'code');
  const text: unknown = Reflect.get(Object(cause), 'error');
  return code === 'FLOW_NOT_FOUND' || (code === 'SCRIPT_ERROR' && typeof text === 'string' && MISTAKE.test(text));
}
