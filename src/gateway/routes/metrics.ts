import { defineRoute, type Route } from '../route.js';

/** Prometheus' text format, version 0.0.4. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export const metricsRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/metrics',
    summary: "The service's numbers, for Prometheus.",
    answer: 'text/plain',
    async handle({ request }) {
      return { kind: 'text', status: 200, contentType: CONTENT_TYPE, text: await request.metrics() };
    },
  }),
];
