import { fileURLToPath } from 'node:url';
import { BuiltPage } from '../../pages/built-page.js';
import { TroupeError } from '../../protocol/errors.js';
import { fileNameOf } from '../path-params.js';
import { type Answer, defineRoute, type Route, type RouteRequest } from '../route.js';

const ACCEPT_ENCODING = 'accept-encoding';

/** The bundle is beside the code that serves it: `dist/web/dashboard`. */
const pages = new BuiltPage(fileURLToPath(new URL('../../web/dashboard', import.meta.url)));

export const pageRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/',
    summary: 'The dashboard.',
    role: null,
    answer: 'text/html',
    headers: [ACCEPT_ENCODING],
    async handle({ request }) {
      return page('index.html', request);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/assets/{name}',
    summary: 'A file of the dashboard.',
    role: null,
    answer: 'application/octet-stream',
    headers: [ACCEPT_ENCODING],
    async handle({ request }) {
      return page(`assets/${fileNameOf(request)}`, request);
    },
  }),
];

function page(name: string, request: RouteRequest): Answer {
  const file = pages.find(name);
  if (file === undefined) throw new TroupeError('NOT_FOUND', `The dashboard has no ${name}`);
  const gzip = /\bgzip\b/.test(request.headers[ACCEPT_ENCODING] ?? '') ? file.gzip : null;
  return {
    kind: 'page',
    contentType: file.contentType,
    body: gzip ?? file.plain,
    gzip: gzip !== null,
    immutable: file.immutable,
  };
}
