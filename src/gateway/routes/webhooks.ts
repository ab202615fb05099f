import { z } from 'zod';
import { ReplayRequest, WebhookDelivery } from '../../protocol/webhook.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

export const webhookRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/sessions/{id}/webhooks',
    summary: "What became of the messages to a job's webhook.",
    answer: z.array(WebhookDelivery),
    async handle({ request }, sessions) {
      const { id } = await sessions.get(sessionIdOf(request));
      return { kind: 'json', status: 200, body: await sessions.webhooks.list(id) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/sessions/{id}/webhooks',
    summary: "Sends the messages to a job's webhook again.",
    body: ReplayRequest,
    answer: z.array(WebhookDelivery),
    async handle({ body, request }, sessions) {
      const { id } = await sessions.get(sessionIdOf(request));
      return { kind: 'json', status: 200, body: await sessions.webhooks.replay(id, body.moment) };
    },
  }),
];
