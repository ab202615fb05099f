import { z } from 'zod';
import { ReplayRequest, WebhookDelivery } from '../../protocol/webhook.js';
import { batchIdOf, sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

export const webhookRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/sessions/{id}/webhooks',
    summary: "The deliveries of a job's webhook.",
    answer: z.array(WebhookDelivery),
    async handle({ request }, sessions) {
      const { id } = await sessions.get(sessionIdOf(request));
      return { kind: 'json', status: 200, body: await sessions.webhooks.list(id) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/sessions/{id}/webhooks',
    summary: "Repeats the deliveries of a job's webhook.",
    body: ReplayRequest,
    answer: z.array(WebhookDelivery),
    async handle({ body, request }, sessions) {
      const { id } = await sessions.get(sessionIdOf(request));
      return { kind: 'json', status: 200, body: await sessions.webhooks.replay(id, body.moment) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/batches/{id}/webhooks',
    summary: "The delivery of a batch's webhook.",
    answer: z.array(WebhookDelivery),
    async handle({ request }, sessions) {
      const { id } = await sessions.batches.get(batchIdOf(request));
      return { kind: 'json', status: 200, body: await sessions.webhooks.list(id) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/batches/{id}/webhooks',
    summary: "Repeats the delivery of a batch's webhook.",
    body: ReplayRequest,
    answer: z.array(WebhookDelivery),
    async handle({ body, request }, sessions) {
      const { id } = await sessions.batches.get(batchIdOf(request));
      return { kind: 'json', status: 200, body: await sessions.webhooks.replay(id, body.moment) };
    },
  }),
];
