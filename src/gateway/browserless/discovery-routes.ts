import { z } from 'zod';
import { TroupeError } from '../../protocol/errors.js';
import { defineRoute, type Route } from '../route.js';
import { devToolsVersion, socketBase } from './devtools-version.js';
import { readLaunchQuery } from './launch-query.js';

const Version = z.object({
  Browser: z.string(),
  'Protocol-Version': z.string(),
  'User-Agent': z.string().optional(),
  'V8-Version': z.string().optional(),
  'WebKit-Version': z.string().optional(),
  webSocketDebuggerUrl: z.string(),
});

/**
 * What clients of the DevTools protocol ask if they are given `http://host:port`, as a Chrome with a debugging port
 * answers it. The answer names the WebSocket `/cdp`, and only connecting to that starts a browser. Clients ask with and
 * without a slash at the end.
 *
 * @param publicBase see `Access.publicBase`
 */
export const discoveryRoutes = (publicBase: string | undefined): readonly Route[] => [
  ...['/json/version', '/json/version/'].map((path) =>
    defineRoute({
      method: 'GET',
      path,
      summary: 'The address of the WebSocket /cdp, as Chrome says where its own is.',
      role: 'run',
      answer: Version,
      errors: ['INVALID_REQUEST'],
      async handle({ request }, sessions) {
        const { query } = request;
        // Told now rather than by a WebSocket that does not open.
        readLaunchQuery(query);
        // A token in the query is the client's own way to be let in. One in a header never gets into an address.
        const search = query.size === 0 ? '' : `?${query}`;
        const webSocketDebuggerUrl = `${socketBase(publicBase ?? request.base)}/cdp${search}`;
        const body = { ...devToolsVersion(sessions.browserKind()), webSocketDebuggerUrl };
        return { kind: 'json', status: 200, body };
      },
    }),
  ),
  ...['/json', '/json/', '/json/list', '/json/list/'].map((path) =>
    defineRoute({
      method: 'GET',
      path,
      summary: 'No pages: the browser of a connection to /cdp begins with the connection.',
      role: 'run',
      answer: z.array(z.never()),
      async handle() {
        return { kind: 'json', status: 200, body: [] };
      },
    }),
  ),
  ...(['GET', 'PUT'] as const).map((method) =>
    defineRoute({
      method,
      path: '/json/{action...}',
      summary: 'Refuses what Chrome does to pages outside of a connection.',
      role: 'run',
      changes: false,
      answer: z.never(),
      errors: ['NOT_FOUND'],
      async handle({ request }) {
        const action = (request.params.action ?? '').slice(0, 100);
        const why = 'there are no pages outside of a connection; connect to the WebSocket /cdp and use its commands';
        throw new TroupeError('NOT_FOUND', `There is no /json/${action}: ${why}`);
      },
    }),
  ),
];
