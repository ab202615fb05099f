import { Health } from '../../protocol/answers.js';
import { defineRoute, type Route } from '../route.js';

export const healthRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/health',
    summary: 'Says that the service lives, and how much room it has.',
    answer: Health,
    async handle(_input, sessions) {
      return { kind: 'json', status: 200, body: sessions.health() };
    },
  }),
];
