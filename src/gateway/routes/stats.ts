import { Stats, StatsQuery } from '../../protocol/stats.js';
import { defineRoute, type Route } from '../route.js';

export const statsRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/stats',
    summary: 'How flows went over time: pass rate, flakiness, durations.',
    query: StatsQuery,
    answer: Stats,
    async handle({ query }, sessions) {
      return { kind: 'json', status: 200, body: await sessions.stats(query) };
    },
  }),
];
