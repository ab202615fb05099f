import { z } from 'zod';
import { sessionDocument } from '../../agent-js/prompt/session-document.js';
import { TroupeError } from '../../protocol/errors.js';
import { isEnded, ProxyRequest } from '../../protocol/session.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

/** Everything that a script, or the session that it is for, can fail with. */
const SCRIPT_ERRORS = [
  'SCRIPT_ERROR',
  'MATCH_FAILED',
  'LOCATOR_NOT_FOUND',
  'LOCATOR_AMBIGUOUS',
  'LOCATOR_STALE',
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

export const scriptRoutes: readonly Route[] = [
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
        onDisconnect: 'continue',
        control: body.control,
      });
      return { kind: 'text', status: 200, contentType: 'application/json', text };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/sessions/{id}/prompt',
    summary: 'How a language model drives this session, as markdown.',
    headers: ['authorization'],
    answer: 'text/markdown',
    errors: ['SESSION_ENDED'],
    async handle({ request }, sessions) {
      const { status, links } = await sessions.get(sessionIdOf(request));
      if (isEnded(status))
        throw new TroupeError('SESSION_ENDED', `The session ended (${status}): nothing can be sent to it`);
      const text = sessionDocument({
        // Whole already where `publicUrl` is configured.
        proxyUrl: new URL(links.proxy, request.base).href,
        recordUrl: new URL(links.self, request.base).href,
        timeLeft: sessions.timeLeft(sessionIdOf(request)),
        needsToken: request.headers.authorization !== '',
        flows: await sessions.flows.list(request.signal),
      });
      return { kind: 'text', status: 200, contentType: 'text/markdown; charset=utf-8', text };
    },
  }),
];
