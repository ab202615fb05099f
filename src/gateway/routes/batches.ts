import {
  AcceptedBatch,
  BatchJUnitQuery,
  BatchList,
  BatchListQuery,
  BatchRecord,
  BatchRequest,
  RerunRequest,
} from '../../protocol/batches/batch.js';
import { TroupeError } from '../../protocol/errors.js';
import { RemoveQuery } from '../../protocol/session.js';
import { batchIdOf, flowPathOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';
import { LAST_EVENT_ID, StartQuery, startAfter } from './events.js';
import { IDEMPOTENCY_KEY, SUBMIT_ERROR_STATUS, SUBMIT_ERRORS, submitterOf } from './submission.js';

/** Ten thousand jobs, with the flows that they bring. */
const BATCH_BYTES = 32 * 1024 * 1024;

export const batchRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/batches',
    summary: 'Submits up to 10,000 jobs together, all of them or none.',
    status: 201,
    body: BatchRequest,
    jsonBytes: BATCH_BYTES,
    answer: AcceptedBatch,
    errors: SUBMIT_ERRORS,
    headers: [IDEMPOTENCY_KEY],
    errorStatus: SUBMIT_ERROR_STATUS,
    async handle({ body, request }, sessions) {
      return { kind: 'json', status: 201, body: await sessions.batches.create(body, submitterOf(request)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/batches',
    summary: 'Lists batches, newest first.',
    query: BatchListQuery,
    answer: BatchList,
    async handle({ query }, sessions) {
      return { kind: 'json', status: 200, body: await sessions.batches.list(query) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/batches/{id}/rerun',
    summary: 'Runs the jobs of a batch that did not complete again, or all of them, as a new batch.',
    status: 201,
    body: RerunRequest,
    answer: AcceptedBatch,
    errors: SUBMIT_ERRORS,
    headers: [IDEMPOTENCY_KEY],
    errorStatus: SUBMIT_ERROR_STATUS,
    async handle({ body, request }, sessions) {
      const batch = await sessions.batches.rerun(batchIdOf(request), body, submitterOf(request));
      return { kind: 'json', status: 201, body: batch };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/batches/{id}/flows/{path...}',
    summary: "The text of a flow or task file that a batch's jobs used.",
    answer: 'text/plain',
    async handle({ request }, sessions) {
      const text = await sessions.batches.flowSource(batchIdOf(request), flowPathOf(request));
      return { kind: 'text', status: 200, contentType: 'text/plain; charset=utf-8', text };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/batches/{id}',
    summary: "A batch's record: its state, and the number of its jobs in each state.",
    answer: BatchRecord,
    async handle({ request }, sessions) {
      return { kind: 'json', status: 200, body: await sessions.batches.get(batchIdOf(request)) };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/batches/{id}',
    summary: 'Cancels the unfinished jobs of a batch; removes a batch whose jobs have all ended, or with purge any.',
    query: RemoveQuery,
    answer: BatchRecord,
    async handle({ query, request }, sessions) {
      const body = await sessions.batches.remove(batchIdOf(request), query.purge === 'true');
      return { kind: 'json', status: 200, body };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/batches/{id}/events',
    summary: "The starts, ends and handoffs of a batch's jobs as server-sent events, until all jobs have ended.",
    query: StartQuery,
    headers: [LAST_EVENT_ID],
    answer: 'text/event-stream',
    errors: ['CAPACITY'],
    also: { 204: 'The batch has ended, and the client has all its events.' },
    async handle({ query, request }, sessions) {
      const id = batchIdOf(request);
      const after = Math.min(startAfter(request, query.after) ?? 0, sessions.streams.lastSeq());
      const { endedAt, join, suite } = await sessions.batches.get(id);
      if (suite !== undefined) {
        throw new TroupeError(
          'NOT_FOUND',
          `Batch ${id} is a run of a Playwright suite: GET /api/batches/${id}/tests has its tests`,
        );
      }
      if (join !== undefined) {
        throw new TroupeError(
          'NOT_FOUND',
          `Machines run the jobs of batch ${id}: GET /api/batches/${id}/results has them`,
        );
      }
      return {
        kind: 'events',
        open: (signal) => sessions.batches.eventPages({ id, after, signal }),
        finite: endedAt !== null,
        caller: request.caller,
      };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/batches/{id}/download',
    summary: "A zip of the artifacts of a batch's jobs, with a folder for each.",
    answer: 'application/zip',
    async handle({ request }, sessions) {
      const id = batchIdOf(request);
      const stream = await sessions.batches.archive(id);
      return { kind: 'stream', contentType: 'application/zip', fileName: `${id}.zip`, stream };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/batches/{id}/junit',
    summary: "A JUnit report of a batch's jobs.",
    query: BatchJUnitQuery,
    answer: 'application/xml',
    async handle({ query, request }, sessions) {
      const id = batchIdOf(request);
      const text = await sessions.batches.junit(id, query, request.base);
      return { kind: 'text', status: 200, contentType: 'application/xml; charset=utf-8', text };
    },
  }),
];
