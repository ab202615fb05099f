import { sessionDocument } from '../../agent-js/prompt/session-document.js';
import { TroupeError } from '../../protocol/errors.js';
import { isEnded } from '../../protocol/session.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

export const promptRoutes: readonly Route[] = [
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
        needsToken: request.headers.authorization !== '',
        flows: await sessions.flowCatalog(request.signal),
      });
      return { kind: 'text', status: 200, contentType: 'text/markdown; charset=utf-8', text };
    },
  }),
];
