import { z } from 'zod';
import { ProxyRequest } from '../../protocol/session.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

/** Everything that a script, or the session that it is for, can fail with. */
const SCRIPT_ERRORS = [
  'SCRIPT_ERROR',
  'MATCH_FAILED',
  'LOCATOR_NOT_FOUND',
  'LOCATOR_AMBIGUOUS',
  'ACTION_FAILED',
  'FLOW_NOT_FOUND',
  'WAIT_TIMEOUT',
  'SESSION_ENDED',
  'SESSION_BUSY',
  'CAPACITY',
  'WORKER_LOST',
  'SESSION_RESTARTED',
  'EVAL_TIMEOUT',
] as const;

export const proxyRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/sessions/{id}/proxy',
    summary: 'Runs a script in a session and answers its value as JSON.',
    changes: false,
    body: ProxyRequest,
    answer: z.unknown(),
    errors: SCRIPT_ERRORS,
    async handle({ body, request }, sessions) {
      const text = await sessions.runScript(sessionIdOf(request), body.js, request.gone, {
        whenGone: 'go on',
        control: body.control,
      });
      return { kind: 'text', status: 200, contentType: 'application/json', text };
    },
  }),
];
