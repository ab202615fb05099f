import { z } from 'zod';
import { Health, NodeInfo, RemovedNode } from '../../protocol/answers.js';
import { TroupeError } from '../../protocol/errors.js';
import type { Nodes } from '../../supervisor/ports/nodes.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import type { ServerName } from '../http/http-server.js';
import { defineRoute, type Route } from '../route.js';

/** Prometheus' text format, version 0.0.4. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** What the service says of itself, beside its sessions. */
export interface Monitoring {
  /** The HTTP server in use. */
  readonly server: ServerName;
  /** The metrics, in Prometheus' text format. */
  metrics(): Promise<string>;
}

export const monitoringRoutes = (monitoring: Monitoring): readonly Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/health',
    summary: 'The health of the service: whether it accepts work, and its capacity.',
    answer: Health,
    async handle(_input, sessions) {
      const health: Health = { ...sessions.health(), server: monitoring.server };
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
    async handle() {
      return { kind: 'text', status: 200, contentType: CONTENT_TYPE, text: await monitoring.metrics() };
    },
  }),
];

export const nodeRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/nodes',
    summary: 'The nodes that share the database; none if this service is alone.',
    role: 'admin',
    answer: z.array(NodeInfo),
    async handle(_input, { nodes }) {
      return { kind: 'json', status: 200, body: nodes === null ? [] : await nodes.list() };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/nodes/{id}/drain',
    summary: 'Drains a node: it takes no more work, and stops when its sessions have ended.',
    role: 'admin',
    answer: NodeInfo,
    errors: ['INVALID_REQUEST', 'NOT_FOUND'],
    async handle({ request }, sessions) {
      const node = await nodesOf(sessions).drain(request.params.id ?? '');
      return { kind: 'json', status: 200, body: node };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/nodes/{id}',
    summary: 'Removes a node that is lost from the list.',
    role: 'admin',
    answer: RemovedNode,
    errors: ['INVALID_REQUEST', 'NOT_FOUND'],
    async handle({ request }, sessions) {
      const id = request.params.id ?? '';
      await nodesOf(sessions).remove(id);
      return { kind: 'json', status: 200, body: { id, removed: true } };
    },
  }),
];

/** @throws NOT_FOUND if the service is alone */
function nodesOf({ nodes }: Sessions): Nodes {
  if (nodes === null) throw new TroupeError('NOT_FOUND', 'This service shares its database with no other; see "node"');
  return nodes;
}
