import { TroupeError } from '../../protocol/errors.js';
import { ShareLink, ShareRequest } from '../../protocol/share.js';
import { sessionIdOf } from '../path-params.js';
import { defineRoute, type Route } from '../route.js';

const DEFAULT_SECONDS = 24 * 3600;

export const shareRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/sessions/{id}/links',
    summary: 'Makes a link that shows this one session, view only, to who has no token.',
    status: 201,
    body: ShareRequest,
    answer: ShareLink,
    async handle({ body, request }, sessions) {
      const { id } = await sessions.get(sessionIdOf(request));
      const made = sessions.links.make(id, body.expiresIn ?? DEFAULT_SECONDS);
      return { kind: 'json', status: 201, body: { url: `${request.publicBase}/shared/${made.link}`, ...made } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/shared/{link}',
    summary: 'Opens a link: gives the browser a cookie for it, and leads to the page of its session.',
    role: null,
    status: 303,
    answer: 'text/html; charset=utf-8',
    errors: ['UNAUTHORIZED'],
    async handle({ request }, sessions) {
      const shared = sessions.links.read(request.params.link ?? '');
      if (shared === null)
        throw new TroupeError('UNAUTHORIZED', 'The link is no link of this service, or its time is over');
      const { id } = await sessions.get(shared.id);
      return {
        kind: 'redirect',
        location: `/#/sessions/${id}`,
        setCookie: request.acceptLink(request.params.link ?? '', shared),
      };
    },
  }),
];
