import { keepsTrace } from '../../protocol/trace/keeps-trace.js';
import { noTrace, TRACE, TraceLink } from '../../protocol/trace/trace.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';
import type { TraceViewer } from '../trace-viewer/trace-viewer.js';

export const traceRoutes = (traceViewer: TraceViewer): readonly Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/sessions/{id}/trace',
    summary: 'The trace, for `npx playwright show-trace`; while the session runs, what there is so far.',
    answer: 'application/zip',
    async handle({ request }, sessions) {
      const id = sessionIdOf(request);
      return {
        kind: 'stream',
        contentType: 'application/zip',
        fileName: TRACE,
        ...(await sessions.artifacts.trace(id)),
      };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/sessions/{id}/trace',
    summary: 'An address that opens the trace in the viewer for an hour.',
    role: 'view',
    changes: false,
    status: 201,
    answer: TraceLink,
    errors: ['UNAVAILABLE'],
    async handle({ request }, sessions) {
      const record = await sessions.get(sessionIdOf(request));
      if (!keepsTrace(record)) throw noTrace();
      return { kind: 'json', status: 201, body: await traceViewer.open(record.id, request.host, sessions) };
    },
  }),
];
