import { z } from 'zod';
import { TroupeError } from '../../protocol/errors.js';
import { FlowNode, SavedFlow } from '../../protocol/flow-tree.js';
import { Stats, StatsQuery } from '../../protocol/stats.js';
import { etagOf, preconditionOf } from '../entity-tag.js';
import { flowPathOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

/** As much as File.write writes. */
const FLOW_BYTES = 1024 * 1024;

export const flowRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/flows',
    summary: 'The flows folder as a tree, with the description and arguments of each flow.',
    answer: z.array(FlowNode),
    async handle({ request }, sessions) {
      return { kind: 'json', status: 200, body: await sessions.flows.tree(request.signal) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/flows/{path...}',
    summary: 'The text of a flow or a task file.',
    answer: 'text/plain',
    hasEtag: true,
    async handle({ request }, sessions) {
      const text = await sessions.flows.source(flowPathOf(request));
      return { kind: 'text', status: 200, contentType: 'text/plain; charset=utf-8', text, etag: etagOf(text) };
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/api/flows/{path...}',
    summary: 'Replaces or creates a flow or a task file.',
    role: 'admin',
    bytes: FLOW_BYTES,
    headers: ['if-match', 'if-none-match'],
    answer: SavedFlow,
    hasEtag: true,
    errors: ['PRECONDITION_FAILED'],
    async handle({ request }, sessions) {
      const text = textOf(request.bytes);
      const check = preconditionOf(request.headers);
      const body = await sessions.flows.save(flowPathOf(request), text, (current) =>
        check(current === null ? null : etagOf(current)),
      );
      return { kind: 'json', status: 200, body, etag: etagOf(text) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/stats',
    summary: 'Statistics of flows by time: pass rate, flakiness, durations.',
    query: StatsQuery,
    answer: Stats,
    async handle({ query }, sessions) {
      return { kind: 'json', status: 200, body: await sessions.flows.stats(query) };
    },
  }),
];

/** @throws INVALID_REQUEST unless the body is UTF-8 */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new TroupeError('INVALID_REQUEST', 'The body is not UTF-8; send the text of the file as UTF-8', {
      issues: [{ path: 'body', message: 'not UTF-8' }],
    });
  }
}
