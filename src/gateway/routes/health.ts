import { Health } from '../../protocol/answers.js';
import { TroupeError } from '../../protocol/errors.js';
import { defineRoute, type Route } from '../route.js';

export const healthRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/health',
    summary: 'Says whether the service can take work, and how much room it has.',
    answer: Health,
    async handle(_input, sessions) {
      const health = sessions.health();
      if (health.status === 'failing') throw new TroupeError('UNAVAILABLE', health.reason ?? 'It fails', { ...health });
      return { kind: 'json', status: 200, body: health };
    },
  }),
];
