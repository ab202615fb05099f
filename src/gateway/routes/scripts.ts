import { z } from 'zod';
import { sessionDocument } from '../../agent-js/prompt/session-document.js';
import { TroupeError } from '../../protocol/errors.js';
import { isEnded, ProxyRequest } from '../../protocol/session.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

/** Every error of a script, or of the session that runs it. */
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

/** @param publicBase see `Access.publicBase` */
export const scriptRoutes = (publicBase: string | undefined): readonly Route[] => [
  defineRoute({
    method: 'POST',
    path: '/sessions/{id}/proxy',
    summary: 'Runs a script in a session and returns its value as JSON.',
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
    path: '/prompt',
    summary: 'Instructions for a language model that creates a session and uses it, as Markdown.',
    headers: ['authorization'],
    answer: 'text/markdown',
    async handle({ request }, sessions) {
      const base = publicBase ?? request.base;
      const text = sessionDocument({
        createUrl: `${base}/api/sessions`,
        proxyUrl: `${base}/sessions/$ID/proxy`,
        recordUrl: `${base}/api/sessions/$ID`,
        needsToken: request.headers.authorization !== '',
        flows: await sessions.flows.list(request.signal),
      });
      return { kind: 'text', status: 200, contentType: 'text/markdown; charset=utf-8', text };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/sessions/{id}/prompt',
    summary: 'Instructions for a language model that uses this session, as Markdown.',
    headers: ['authorization'],
    answer: 'text/markdown',
    errors: ['SESSION_ENDED'],
    async handle({ request }, sessions) {
      const { status, links } = await sessions.get(sessionIdOf(request));
      if (isEnded(status))
        throw new TroupeError('SESSION_ENDED', `The session has ended (${status}); create another one`);
      const text = sessionDocument({
        // Already absolute if `publicUrl` is configured.
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
