import { z } from 'zod';
import { RemovedSession, RunAnswer } from '../../protocol/answers.js';
import {
  AutoRequest,
  isEnded,
  ListQuery,
  LiveRequest,
  RemoveSessionQuery,
  RunRequest,
  SessionRecord,
} from '../../protocol/session.js';
import { fileNameOf, sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';
import { recordPage } from './record-pages.js';
import { IDEMPOTENCY_KEY, SUBMIT_ERROR_STATUS, SUBMIT_ERRORS, submitterOf } from './submission.js';

const DEFAULT_WAIT_SECONDS = 300;

/** A live session without `mode` or with `live`; an autonomous one with `auto`. */
const CreateRequest = z.discriminatedUnion('mode', [LiveRequest, AutoRequest], { error: 'either "live" or "auto"' });

export const sessionRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/sessions',
    summary: 'Creates a live session, ready to use, or submits a job.',
    status: 201,
    body: CreateRequest,
    answer: SessionRecord,
    errors: [...SUBMIT_ERRORS, 'WORKER_LOST'],
    headers: [IDEMPOTENCY_KEY],
    errorStatus: SUBMIT_ERROR_STATUS,
    async handle({ body, request }, sessions) {
      const submitter = submitterOf(request);
      if (body.mode === 'auto') return { kind: 'json', status: 201, body: await sessions.submit(body, submitter) };
      const record = await sessions.createLive(body, submitter);
      // The client disconnected just before the session was ready. Without a key to repeat the request, no client would
      // ever learn the id.
      if (request.signal.aborted && submitter.idempotencyKey === undefined) await sessions.remove(record.id, false);
      return { kind: 'json', status: 201, body: record };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/sessions/run',
    summary: 'Submits a job and responds when it has ended, or after waitTimeout.',
    body: RunRequest,
    answer: RunAnswer,
    errors: SUBMIT_ERRORS,
    headers: [IDEMPOTENCY_KEY],
    errorStatus: SUBMIT_ERROR_STATUS,
    async handle({ body, request }, sessions) {
      const { waitTimeout = DEFAULT_WAIT_SECONDS, ...task } = body;
      const submitted = await sessions.submit({ ...task, mode: 'auto' }, submitterOf(request));
      // Only the wait ends with the client: the session continues.
      const bounds = { timeoutMs: waitTimeout * 1000, signal: request.signal };
      const record = await sessions.waitForEnd(submitted.id, bounds);
      return { kind: 'json', status: 200, body: isEnded(record.status) ? record : { ...record, timedOut: true } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/sessions',
    summary: 'Lists sessions and jobs, newest first.',
    query: ListQuery,
    answer: z.array(SessionRecord),
    isPaged: true,
    async handle({ query }, sessions) {
      return await recordPage(sessions, '/api/sessions', query);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/sessions/{id}',
    shared: true,
    summary: "A session's record.",
    answer: SessionRecord,
    async handle({ request }, sessions) {
      return { kind: 'json', status: 200, body: await sessions.get(sessionIdOf(request)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/sessions/{id}/value',
    summary: 'What the _setup flow of a job returned, for the caller that submitted it and for admins.',
    role: 'run',
    answer: z.unknown(),
    async handle({ request }, sessions) {
      const { id } = await sessions.get(sessionIdOf(request));
      const text = await sessions.setupValues.read(request.caller, id);
      return { kind: 'text', status: 200, contentType: 'application/json; charset=utf-8', text };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/sessions/{id}',
    summary: 'Stops a running session; removes the record and artifacts of an ended one, or with purge of any or none.',
    query: RemoveSessionQuery,
    answer: RemovedSession,
    async handle({ query, request }, sessions) {
      const id = sessionIdOf(request);
      await sessions.remove(id, query.purge === 'never' ? 'never' : query.purge === 'true');
      return { kind: 'json', status: 200, body: { id, sessionId: id, status: 'stopped', deleted: true } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/sessions/{id}/download',
    summary: 'The zip of the artifacts; while the session runs, those that exist so far.',
    answer: 'application/zip',
    async handle({ request }, sessions) {
      const id = sessionIdOf(request);
      const stream = await sessions.artifacts.archive(id);
      return { kind: 'stream', contentType: 'application/zip', fileName: `${id}.zip`, stream };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/sessions/{id}/report',
    shared: true,
    summary: 'The HTML report; while the session runs, of its events so far.',
    answer: 'text/html',
    async handle({ request }, sessions) {
      const file = await sessions.artifacts.report(sessionIdOf(request), 'report.html');
      return { kind: 'picture', contentType: 'text/html; charset=utf-8', ...file };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/sessions/{id}/report.json',
    summary: 'The report as JSON; while the session runs, of its events so far.',
    answer: 'application/json',
    async handle({ request }, sessions) {
      const file = await sessions.artifacts.report(sessionIdOf(request), 'report.json');
      return { kind: 'picture', contentType: 'application/json', ...file };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/sessions/{id}/screenshots/{name}',
    shared: true,
    summary: 'A screenshot, by its name in the transcript.',
    answer: 'image/png',
    async handle({ request }, sessions) {
      const file = await sessions.artifacts.screenshot(sessionIdOf(request), fileNameOf(request));
      return { kind: 'picture', contentType: 'image/png', ...file };
    },
  }),
];
