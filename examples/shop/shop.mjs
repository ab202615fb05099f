import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { accountRoutes } from './account.mjs';
import { browseRoutes } from './browse.mjs';
import { cartRoutes } from './cart.mjs';
import { checkoutRoutes } from './checkout.mjs';
import { parseLayout } from './layout.mjs';
import { orderRoutes } from './orders.mjs';
import { failure } from './replies.mjs';
import { Store } from './store.mjs';

const MAX_BODY_BYTES = 1024 * 1024;

const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

const CLIENT_FILES = new Map([
  ['/shop.css', 'text/css; charset=utf-8'],
  ['/cart.js', 'text/javascript; charset=utf-8'],
  ['/notice.js', 'text/javascript; charset=utf-8'],
  ['/search.js', 'text/javascript; charset=utf-8'],
]);

const ROUTES = [...browseRoutes, ...cartRoutes, ...accountRoutes, ...checkoutRoutes, ...orderRoutes];

function compiled([method, pattern, handler]) {
  const source = pattern.replaceAll('.', '\\.').replace(/:(\w+)/g, '(?<$1>[\\w.-]+)');
  return { method, pattern: new RegExp(`^${source}$`), handler };
}

/**
 * Starts the example shop. It listens on loopback unless told otherwise, keeps everything in memory, and answers
 * forms of other sites with 403. `port` 0 takes a free one. `more` are further routes: `[method, pattern, handler]`.
 */
export async function startShop({ port = 0, host = '127.0.0.1', more = [] } = {}) {
  const store = new Store();
  const routes = [...ROUTES, ...more].map(compiled);
  const files = await readClientFiles();
  const server = createServer((request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    answer({ store, files, routes, request, signal: gone.signal })
      .then((reply) => send(request, response, reply))
      // The reader went away, or a handler threw after the reply had begun: there is nobody to tell.
      .catch(() => response.destroy());
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const shownHost = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${shownHost}:${server.address().port}`,
    /** Ends every connection; calling it again changes nothing. */
    async close() {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readClientFiles() {
  const read = async ([path, type]) => [
    path,
    { type, body: await readFile(new URL(`client${path}`, import.meta.url)) },
  ];
  return new Map(await Promise.all([...CLIENT_FILES].map(read)));
}

async function answer({ store, files, routes, request, signal }) {
  const url = new URL(request.url ?? '/', 'http://shop.invalid');
  const file = files.get(url.pathname);
  if (file) return { status: 200, headers: { 'content-type': file.type }, body: file.body };
  const visit = openVisit({ store, request, url, signal });
  try {
    const reply = await handle(visit, request, routes);
    return { ...reply, cookies: [...visit.cookies, ...(reply.cookies ?? [])] };
  } catch (error) {
    if (error instanceof Refusal) return failure(visit, error.status, error.title, error.message);
    console.error(error);
    return failure(visit, 500, 'Our mistake', 'Something in the shop broke. Please try again.');
  }
}

function handle(visit, request, routes) {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  if (method !== 'GET' && request.headers['sec-fetch-site'] === 'cross-site') {
    throw new Refusal(403, 'Not from here', 'This form was sent by another site.');
  }
  const found = routes.filter(({ pattern }) => pattern.test(visit.path));
  if (found.length === 0) return failure(visit, 404, 'Not found', 'There is no such page.');
  const route = found.find((candidate) => candidate.method === method);
  if (!route) {
    const reply = failure(visit, 405, 'Not like this', `This page does not take ${request.method}.`);
    return { ...reply, headers: { ...reply.headers, allow: found.map((candidate) => candidate.method).join(', ') } };
  }
  visit.params = route.pattern.exec(visit.path)?.groups ?? {};
  return route.handler(visit);
}

/** What a handler may know of a request, and the cookies that its answer will set. */
function openVisit({ store, request, url, signal }) {
  const sent = readCookies(request.headers.cookie ?? '');
  const asked = parseLayout(url.searchParams.get('layout') ?? '');
  const layout = asked ?? parseLayout(sent.get('layout') ?? 'a') ?? parseLayout('a');
  const path = url.pathname;
  return {
    store,
    signal,
    path,
    query: url.searchParams,
    params: {},
    layout,
    cookies: asked ? [`layout=${asked.id}`] : [],
    // The login page needs no cookie beyond its own, so it asks nothing.
    askCookies: layout.notice && !sent.has('notice') && path !== '/login',
    back: pathOf(request.headers.referer),
    session: store.session(sent.get('shop') ?? ''),
    form: () => readForm(request),
    openSession() {
      return this.session ?? this.renewSession();
    },
    renewSession() {
      this.session = store.openSession(this.session);
      this.cookies.push(`shop=${this.session.token}; HttpOnly`);
      return this.session;
    },
  };
}

function readCookies(header) {
  const pairs = header.split(';').map((pair) => pair.split('='));
  return new Map(pairs.map(([name, ...value]) => [name.trim(), value.join('=').trim()]));
}

/** The path that a form was sent from, for going back there; only ever a path of this shop. */
function pathOf(referer) {
  const path = URL.canParse(referer ?? '') ? new URL(referer).pathname : '/';
  return path.startsWith('//') ? '/' : path;
}

async function readForm(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Refusal(413, 'Too large', 'A form with its file may have 1 MiB at most.');
    chunks.push(chunk);
  }
  const headers = { 'content-type': request.headers['content-type'] ?? 'application/x-www-form-urlencoded' };
  try {
    return await new Response(Buffer.concat(chunks), { headers }).formData();
  } catch {
    throw new Refusal(400, 'Not understood', 'This is not a form as browsers send it.');
  }
}

async function send(request, response, { status, headers, body, cookies = [] }) {
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    'cache-control': 'no-store',
    ...headers,
    // An answer to a body that was not read to its end leaves the connection out of step.
    ...(request.complete || request.method === 'GET' ? {} : { connection: 'close' }),
    ...(cookies.length > 0 ? { 'set-cookie': cookies.map((cookie) => `${cookie}; Path=/; SameSite=Lax`) } : {}),
  });
  if (request.method === 'HEAD') response.end();
  else if (typeof body === 'string' || Buffer.isBuffer(body)) response.end(body);
  else await pipeline(Readable.from(body), response);
}

class Refusal extends Error {
  constructor(status, title, message) {
    super(message);
    this.status = status;
    this.title = title;
  }
}
