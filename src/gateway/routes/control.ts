import { z } from 'zod';
import { ControlAnswer, ControlRequest } from '../../protocol/control.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

/** Where a client finds the WebSocket that is given the session's address over HTTP, as Chrome answers it. */
const Version = z.object({
  Browser: z.string(),
  'Protocol-Version': z.string(),
  webSocketDebuggerUrl: z.string(),
});

/** Playwright asks with the slash at the end, other clients without. */
const devToolsRoutes = ['', '/'].map((slash) =>
  defineRoute({
    method: 'GET',
    path: `/sessions/{id}/cdp/json/version${slash}`,
    summary: "Where the session's browser is, for clients of Chrome's DevTools protocol that ask over HTTP.",
    role: 'run',
    answer: Version,
    errors: ['SESSION_BUSY', 'SESSION_ENDED'],
    async handle({ request }, sessions) {
      const id = sessionIdOf(request);
      // An unknown session is NOT_FOUND, one that has ended is SESSION_ENDED.
      await sessions.get(id);
      const { product } = sessions.connections.devTools(id, undefined);
      const webSocketDebuggerUrl = `${request.base.replace('http', 'ws')}/sessions/${id}/cdp`;
      return { kind: 'json', status: 200, body: { Browser: product, 'Protocol-Version': '1.3', webSocketDebuggerUrl } };
    },
  }),
);

export const controlRoutes: readonly Route[] = [
  ...devToolsRoutes,
  defineRoute({
    method: 'POST',
    path: '/api/sessions/{id}/control',
    summary: 'Gives a person control of a session, whose agent waits meanwhile, or the agent again.',
    body: ControlRequest,
    answer: ControlAnswer,
    errors: ['SESSION_BUSY', 'SESSION_ENDED'],
    async handle({ body, request }, sessions) {
      const id = sessionIdOf(request);
      if (body.take) {
        const control = await sessions.connections.takeControl(id, request.caller, body.takeOver ?? false);
        return { kind: 'json', status: 200, body: { taken: true, control } };
      }
      await sessions.connections.returnControl(id);
      return { kind: 'json', status: 200, body: { taken: false } };
    },
  }),
];
