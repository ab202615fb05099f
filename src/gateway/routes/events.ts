import { isEnded } from '../../protocol/session.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';
import { LAST_EVENT_ID, StartQuery, startAfter } from './event-start.js';

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
    also: { 204: 'The session has ended, and all its events were seen.' },
    async handle({ query, request }, sessions) {
      const id = sessionIdOf(request);
      const after = Math.min(startAfter(request, query.after) ?? 0, sessions.lastSeq());
      // Asked for before the stream begins, so that an unknown session is a 404 and not an empty stream.
      const record = await sessions.get(id);
      return {
        kind: 'events',
        open: (signal) => sessions.eventPages({ id, after, signal }),
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
      const last = sessions.lastSeq();
      // A number that was never given (another installation's) must not silence what comes next.
      const after = Math.min(startAfter(request, query.after) ?? last, last);
      return {
        kind: 'events',
        open: (signal) => sessions.eventPages({ after, signal }),
        finite: false,
        caller: request.caller,
      };
    },
  }),
];
