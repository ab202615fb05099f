import { z } from 'zod';
import { TroupeError } from '../../protocol/errors.js';
import type { RouteRequest } from '../route.js';

/** The header that a reader sends which was cut off. */
export const LAST_EVENT_ID = 'last-event-id';

/** The query of a stream of events. */
export const StartQuery = z.strictObject({
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'a sequence number')
    .transform(Number)
    .optional(),
});

/**
 * The number of the last event that a reader has seen, if it has said so. The header wins: a browser that reconnects
 * repeats the URL that it began with.
 * @throws INVALID_REQUEST
 */
export function startAfter(request: RouteRequest, queryAfter: number | undefined): number | undefined {
  const header = request.headers[LAST_EVENT_ID] ?? '';
  if (header === '') return queryAfter;
  if (!/^\d{1,15}$/.test(header)) {
    throw new TroupeError('INVALID_REQUEST', 'Last-Event-ID is not a sequence number', {
      issues: [{ path: 'Last-Event-ID', message: 'a sequence number' }],
    });
  }
  return Number(header);
}
