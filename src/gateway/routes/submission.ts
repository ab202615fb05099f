import { TroupeError } from '../../protocol/errors.js';
import type { Submitter } from '../../supervisor/ports/sessions.js';
import type { RouteRequest } from '../route.js';

/** With this header a submission can be repeated without creating a second session. */
export const IDEMPOTENCY_KEY = 'idempotency-key';

/** @throws INVALID_REQUEST unless the key is 1 to 255 printable ASCII characters */
export function submitterOf({ headers, caller, signal }: RouteRequest): Submitter {
  const key = headers[IDEMPOTENCY_KEY] ?? '';
  if (key === '') return { caller, signal };
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    const message = '1 to 255 printable ASCII characters without spaces';
    throw new TroupeError('INVALID_REQUEST', `"Idempotency-Key" must be ${message}`, {
      issues: [{ path: 'Idempotency-Key', message }],
    });
  }
  return { caller, signal, idempotencyKey: key };
}
/** For a submission, a flow that does not exist is an error of the request, not of a script. */
export const SUBMIT_ERROR_STATUS = { FLOW_NOT_FOUND: 400 } as const;

/** Errors of a submission, besides those of its form. */
export const SUBMIT_ERRORS = [
  'FLOW_NOT_FOUND',
  'AUTONOMY_OFF',
  'MODEL_NOT_ALLOWED',
  'MISSING_API_KEY',
  'CAPACITY',
] as const;
