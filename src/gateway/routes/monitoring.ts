import { Health } from '../../protocol/answers.js';
import { TroupeError } from '../../protocol/errors.js';
import { defineRoute, type Route } from '../route.js';

/** Prometheus' text format, version 0.0.4. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export const monitoringRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/health',
    summary: 'The health of the service: whether it accepts work, and its capacity.',
    answer: Health,
    async handle({ request }, sessions) {
      const health: Health = { ...sessions.health(), server: request.server };
      if (health.status === 'failing')
        throw new TroupeError('UNAVAILABLE', health.reason ?? 'The service is failing', { ...health });
      return { kind: 'json', status: 200, body: health };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/metrics',
    summary: "The service's metrics, for Prometheus.",
    answer: 'text/plain',
    async handle({ request }) {
      return { kind: 'text', status: 200, contentType: CONTENT_TYPE, text: await request.metrics() };
    },
  }),
];
