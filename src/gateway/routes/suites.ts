import { SuiteBatch, SuiteReport, SuiteReportAnswer, SuiteRequest, SuiteTests } from '../../protocol/batches/suite.js';
import { batchIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

/** Two hundred tests, each with its failures. */
const REPORT_BYTES = 16 * 1024 * 1024;

export const suiteRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/batches/suite',
    summary: 'Makes the batch of a run of a Playwright suite, or answers with the one that there is.',
    body: SuiteRequest,
    answer: SuiteBatch,
    async handle({ body, request }, sessions) {
      return { kind: 'json', status: 200, body: await sessions.batches.suites.begin(body, request.caller) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/batches/{id}/tests',
    summary: 'Reports tests of a Playwright suite: which there are, which run, and how they ended.',
    // Each test of a suite is reported several times; the batch says what became of it.
    changes: false,
    body: SuiteReport,
    jsonBytes: REPORT_BYTES,
    answer: SuiteReportAnswer,
    errors: ['CLAIM_LOST'],
    async handle({ body, request }, sessions) {
      await sessions.batches.suites.report(batchIdOf(request), body, request.caller);
      return { kind: 'json', status: 200, body: { stored: true } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/batches/{id}/tests',
    summary: 'The tests of a Playwright suite, with all attempts and their failures.',
    answer: SuiteTests,
    async handle({ request }, sessions) {
      return { kind: 'json', status: 200, body: await sessions.batches.suites.tests(batchIdOf(request)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/batches/{id}/ctrf',
    summary: 'The tests of a Playwright suite in the Common Test Report Format (CTRF).',
    answer: 'application/json',
    async handle({ request }, sessions) {
      const text = await sessions.batches.suites.ctrf(batchIdOf(request), request.base);
      return { kind: 'text', status: 200, contentType: 'application/json', text };
    },
  }),
];
