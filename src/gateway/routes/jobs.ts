import { z } from 'zod';
import { JobRequest, ListQuery, SessionRecord } from '../../protocol/session.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';
import { recordPage } from './record-pages.js';
import { IDEMPOTENCY_KEY, SUBMIT_ERROR_STATUS, SUBMIT_ERRORS, submitterOf } from './submission.js';

/** The older API for jobs: a job is an autonomous session, with the same id. */
export const jobRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/jobs',
    summary: 'Submits a job.',
    status: 201,
    body: JobRequest,
    answer: SessionRecord,
    errors: SUBMIT_ERRORS,
    headers: [IDEMPOTENCY_KEY],
    errorStatus: SUBMIT_ERROR_STATUS,
    async handle({ body, request }, sessions) {
      return {
        kind: 'json',
        status: 201,
        body: await sessions.submit({ ...body, mode: 'auto' }, submitterOf(request)),
      };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/jobs',
    summary: 'Lists jobs, newest first.',
    query: ListQuery.omit({ mode: true }),
    answer: z.array(SessionRecord),
    isPaged: true,
    async handle({ query }, sessions) {
      return await recordPage(sessions, '/api/jobs', query, { mode: 'auto' });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/jobs/{id}',
    summary: "A job's record.",
    answer: SessionRecord,
    async handle({ request }, sessions) {
      return { kind: 'json', status: 200, body: await sessions.get(sessionIdOf(request)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/jobs/{id}/download',
    summary: "The zip of a job's report and artifacts.",
    answer: 'application/zip',
    async handle({ request }, sessions) {
      const id = sessionIdOf(request);
      const stream = await sessions.artifacts.archive(id);
      return { kind: 'stream', contentType: 'application/zip', fileName: `${id}.zip`, stream };
    },
  }),
];
