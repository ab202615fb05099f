import { z } from 'zod';
import { FlowNode } from '../../protocol/flow-tree.js';
import { Stats, StatsQuery } from '../../protocol/stats.js';
import { flowPathOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

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
    async handle({ request }, sessions) {
      const text = await sessions.flows.source(flowPathOf(request));
      return { kind: 'text', status: 200, contentType: 'text/plain; charset=utf-8', text };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/stats',
    summary: 'Statistics of flows over time: pass rate, flakiness, durations.',
    query: StatsQuery,
    answer: Stats,
    async handle({ query }, sessions) {
      return { kind: 'json', status: 200, body: await sessions.flows.stats(query) };
    },
  }),
];
