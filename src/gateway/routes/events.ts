import { z } from 'zod';
import { TroupeError } from '../../protocol/errors.js';
import { isEnded } from '../../protocol/session.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route, type RouteRequest } from '../route.js';

/** Sent by a client that reconnects: the last event that it got. */
export const LAST_EVENT_ID = 'last-event-id';

/** The query of an event stream. */
export const StartQuery = z.strictObject({
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'a sequence number')
    .transform(Number)
    .optional(),
});

/**
 * The sequence number of the last event that a client has, if it names one. The header takes precedence: a browser that
 * reconnects repeats its original URL.
 * @throws INVALID_REQUEST
 */
export function startAfter(request: RouteRequest, queryAfter: number | undefined): number | undefined {
  const header = request.headers[LAST_EVENT_ID] ?? '';
  if (header === '') return queryAfter;
  if (!/^\d{1,15}$/.test(header)) {
    throw new TroupeError('INVALID_REQUEST', 'Last-Event-ID must be a sequence number', {
      issues: [{ path: 'Last-Event-ID', message: 'a sequence number' }],
    });
  }
  return Number(header);
}
export const eventRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/sessions/{id}/events',
    shared: true,
    summary: "A session's events as server-sent events, from its beginning or after a sequence number.",
    query: StartQuery,
    headers: [LAST_EVENT_ID],
    answer: 'text/event-stream',
    errors: ['CAPACITY'],
    also: { 204: 'The session has ended, and the client has all its events.' },
    async handle({ query, request }, sessions) {
      const id = sessionIdOf(request);
      const after = Math.min(startAfter(request, query.after) ?? 0, await sessions.streams.newest());
      // Read before the stream begins, so that an unknown session is a 404 and not an empty stream.
      const record = await sessions.get(id);
      return {
        kind: 'events',
        open: (signal) => sessions.streams.pages({ id, after, signal }),
        finite: isEnded(record.status),
        caller: request.caller,
      };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/events',
    summary: 'The events of all sessions as server-sent events, from now or after a sequence number.',
    query: StartQuery,
    headers: [LAST_EVENT_ID],
    answer: 'text/event-stream',
    errors: ['CAPACITY'],
    async handle({ query, request }, sessions) {
      const last = await sessions.streams.newest();
      // A number from the future (of another installation) must not suppress the next events.
      const after = Math.min(startAfter(request, query.after) ?? last, last);
      return {
        kind: 'events',
        open: (signal) => sessions.streams.pages({ after, signal }),
        finite: false,
        caller: request.caller,
      };
    },
  }),
];
