import { ProxyRequest } from '../../protocol/session.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

export const proxyRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/sessions/{id}/proxy',
    summary: 'Runs a script in a session and answers its value as JSON.',
    body: ProxyRequest,
    async handle({ body, request }, sessions) {
      const text = await sessions.runScript(sessionIdOf(request), body.js, request.signal);
      return { kind: 'text', status: 200, contentType: 'application/json', text };
    },
  }),
];
