import { once } from 'node:events';
import t from 'tap';
import WebSocket from 'ws';
import type { Route } from '#troupe/gateway/route.js';
import { includesRole, type Role } from '#troupe/protocol/access.js';
import { inContainers } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { ROUTES } from '../support/routes.js';
import { sampled } from '../support/sampled.js';
import { makeHome, startTestService } from '../support/service.js';

guardLeaks(t);

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const;

/** Who asks: the role that a token has, what a link shows, or nobody. */
interface Asker {
  readonly name: string;
  readonly role: Role | null;
  readonly isLink: boolean;
  readonly headers: { readonly [name: string]: string };
}

/** Of routes that need no token. */
const OPEN = [200, 204, 303, 400, 401, 404, 405];

const home = makeHome(t, { maxSessions: 1, token: 'ROLES_TEST_TOKEN' });
process.env.ROLES_TEST_TOKEN = 'correct-horse';
t.teardown(() => delete process.env.ROLES_TEST_TOKEN);
const service = await startTestService(t, {}, home);
const owner = { authorization: 'Bearer correct-horse' };
const asOwner = async (method: string, path: string, body?: object) =>
  (await service.call(method, path, body, { headers: owner })).body;
const own: string = (await asOwner('POST', '/api/sessions', {})).id;
// It waits behind the first, so it needs no browser.
const job = { prompt: 'x', maxIterations: 0, flowFiles: ['examples/search.js'] };
const foreign: string = (await asOwner('POST', '/api/jobs', job)).id;
const batch: string = (await asOwner('POST', '/api/batches', { jobs: [job] })).id;

const tokenOf = async (role: Role): Promise<Asker> => {
  const { token } = await asOwner('POST', '/api/tokens', { name: `a ${role}`, role });
  return { name: role, role, isLink: false, headers: { authorization: `Bearer ${token}` } };
};
const { link } = await asOwner('POST', `/api/sessions/${own}/links`, {});
const opened = await fetch(`${service.url}/shared/${link}`, { redirect: 'manual' });
const [cookie = ''] = (opened.headers.get('set-cookie') ?? '').split(';');
const nobody = { role: null, isLink: false } as const;
const ASKERS: readonly Asker[] = [
  { ...nobody, name: 'nobody', headers: {} },
  { ...nobody, name: 'a wrong token', headers: { authorization: 'Bearer troupe_wrong' } },
  { ...nobody, name: 'a token of no scheme', headers: { authorization: 'correct-horse' } },
  { ...nobody, name: 'a link that was changed', headers: { cookie: `${cookie}x` } },
  { name: 'a link', role: 'view', isLink: true, headers: { cookie } },
  await tokenOf('view'),
  await tokenOf('run'),
  await tokenOf('admin'),
  { name: 'the configured token', role: 'admin', isLink: false, headers: owner },
];

interface Case {
  readonly asker: Asker;
  readonly method: string;
  readonly pattern: string;
  readonly id: string;
}

const patterns = [...new Set(ROUTES.map(({ path }) => path))];
const CASES: readonly Case[] = [
  ...patterns,
  '/nope',
  '/api',
  '/API/sessions',
  '/api/sessions/',
  '/api//sessions',
].flatMap((pattern) =>
  ASKERS.flatMap((asker) =>
    METHODS.flatMap((method) =>
      (pattern.includes('{id}') ? [own, foreign] : [own]).map((id) => ({ asker, method, pattern, id })),
    ),
  ),
);

t.test('Each route answers each method of each asker as its declared role says', async (t) => {
  const before = await asOwner('GET', '/api/sessions');
  const failed: string[] = [];
  for (const one of sampled(CASES, { name: 'roles', count: 400 })) {
    const status = await statusOf(one);
    const wanted = expected(one);
    const right = typeof wanted === 'number' ? status === wanted : wanted(status);
    if (!right)
      failed.push(
        `${one.method} ${one.pattern} as ${one.asker.name}, ${one.id === own ? 'own' : 'foreign'}: ${status}`,
      );
  }
  t.same(failed, []);
  const after = await asOwner('GET', '/api/sessions');
  const ids = (records: readonly { id: string; status: string }[]) =>
    records.map(({ id, status }) => `${id} ${status}`);
  t.same(ids(after), ids(before), 'nothing was made, stopped or removed');
});

t.test('WebSockets are opened as their roles say', async (t) => {
  const sockets: [string, Role, boolean, number][] = [
    ['/api/stream', 'view', true, 101],
    // Only containers have a desktop.
    [`/sessions/${own}/desktop`, 'view', true, inContainers ? 101 : 404],
    [`/sessions/${foreign}/desktop`, 'view', false, 409],
    [`/sessions/${own}/cdp`, 'run', false, 101],
    [`/sessions/${foreign}/cdp`, 'run', false, 409],
  ];
  for (const [path, role, shown, status] of sockets) {
    for (const { name, headers, isLink, ...asker } of ASKERS) {
      const may = asker.role !== null && includesRole(asker.role, role) && (shown || !isLink);
      const wanted = asker.role === null ? 401 : may ? status : 403;
      t.equal(
        await openedAs(path, headers),
        wanted,
        `${path.replace(own, 'own').replace(foreign, 'foreign')} as ${name}`,
      );
    }
  }
});

t.test('What a role may is what it is meant to', async (t) => {
  t.same(
    ROUTES.filter(({ role }) => role === 'admin').map(({ method, path }) => `${method} ${path}`),
    [
      'POST /api/tokens',
      'GET /api/tokens',
      'DELETE /api/tokens/{id}',
      'POST /api/sessions/{id}/baselines',
      'PUT /api/flows/{path...}',
      'GET /api/nodes',
      'POST /api/nodes/{id}/drain',
      'DELETE /api/nodes/{id}',
    ],
  );
  t.same(
    ROUTES.filter(({ method, role, changes }) => method !== 'GET' && role === 'view' && changes),
    [],
    'whoever may only look changes nothing',
  );
  t.same(
    ROUTES.filter(({ method, shared, role }) => shared && (method !== 'GET' || role !== 'view')),
    [],
    'nor does a link',
  );
});

/** The status, or what it must hold. */
function expected({ asker, method, pattern, id }: Case): number | ((status: number) => boolean) {
  const routes = ROUTES.filter(({ path }) => path === pattern);
  if (routes.length > 0 && routes.every(({ role }) => role === null)) return (status) => OPEN.includes(status);
  if (asker.role === null) return 401;
  if (routes.length === 0) return 404;
  if (method === 'OPTIONS') return 204;
  const route = routes.find((one) => one.method === (method === 'HEAD' ? 'GET' : method));
  if (route === undefined) return 405;
  return mayCall(asker, route, id) ? (status) => status !== 401 && status !== 403 && status < 500 : 403;
}

function mayCall({ role, isLink }: Asker, route: Route, id: string): boolean {
  if (route.role === null) return true;
  if (role === null || !includesRole(role, route.role)) return false;
  return !isLink || (route.shared && id === own);
}

/** Who is let in sends what is refused for its form, so that nothing happens. */
async function statusOf({ asker, method, pattern, id }: Case): Promise<number> {
  const filled = pattern
    .replace('{id}', pattern.startsWith('/api/batches') ? batch : id)
    .replace(/\{\w+(\.\.\.)?\}/g, 'x');
  const query = method === 'DELETE' ? '?nope=1' : '';
  const hasBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
  const given = new AbortController();
  const answer = await fetch(`${service.url}${filled}${query}`, {
    method,
    redirect: 'manual',
    headers: asker.headers,
    signal: given.signal,
    ...(hasBody ? { body: '{"nope":1}' } : {}),
  });
  // Streams of events have no end.
  given.abort();
  return answer.status;
}

async function openedAs(path: string, headers: Asker['headers']): Promise<number> {
  const socket = new WebSocket(service.url.replace('http', 'ws') + path, { headers });
  socket.on('error', () => undefined);
  const status = await Promise.race([
    once(socket, 'open').then(() => 101),
    once(socket, 'unexpected-response').then(([, response]): number => response.statusCode),
  ]);
  socket.terminate();
  return status;
}
