import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { WebSocket } from 'ws';
import { ShareLinks } from '#troupe/auth/share-links.js';
import { SessionId } from '#troupe/protocol/session.js';
import type { StreamRequest } from '#troupe/protocol/stream.js';
import { openHouse } from '../support/house.js';
import { httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';
import { ROUTES } from '../support/routes.js';
import { StreamClient } from '../support/stream-client.js';

guardLeaks(t);

const house = await openHouse(t);
const { sessions } = house;
const gateway = await house.listen({ token: 'correct-horse' });
const admin = { authorization: 'Bearer correct-horse' };

async function makeLink(id: string, body = '{}'): Promise<{ url: string; link: string; expiresAt: string }> {
  const call = { method: 'POST', path: `/api/sessions/${id}/links`, headers: admin, body };
  return Object((await httpCall(gateway.url, call)).json);
}

/** What a browser has after it was redirected to the page. */
async function open(link: string) {
  const answer = await httpCall(gateway.url, { method: 'GET', path: `/shared/${link}` });
  const [setCookie = ''] = [answer.headers['set-cookie']].flat();
  return { status: answer.status, location: answer.headers.location, setCookie, cookie: setCookie.split(';')[0] ?? '' };
}

t.test('A link leads to its session, and gives access to what is shown there and nothing else', async (t) => {
  const { id } = await house.live();
  const other = await house.live();
  const screenshots = join(house.home, 'sessions', id, 'screenshots');
  mkdirSync(screenshots, { recursive: true });
  writeFileSync(join(screenshots, '001-step.png'), 'a picture');
  const before = Date.now();
  const { url, link, expiresAt } = await makeLink(id, '{"expiresIn": 60}');
  t.equal(url, `${gateway.url}/shared/${link}`);
  const madeAt = Date.parse(expiresAt) - 60_000;
  t.ok(madeAt > before - 1_000 && madeAt < Date.now() + 1_000);
  const { status, location, setCookie, cookie } = await open(link);
  t.match({ status, location }, { status: 303, location: `/#/sessions/${id}` });
  t.match(setCookie, /^troupe\d+-\w{12}=[\w.-]+; Path=\/; Max-Age=\d\d; HttpOnly; SameSite=Strict$/);

  const statusOf = async (method: string, path: string) =>
    (await httpCall(gateway.url, { method, path, headers: { cookie }, ...(method === 'GET' ? {} : { body: '{}' }) }))
      .status;
  const at = (path: string, id: string) =>
    path.replace('{id}', id).replace('{name}', '001-step.png').replace('{path...}', 'quick.js');
  const opened: string[] = [];
  for (const { method, path, role } of ROUTES) {
    if (role === null) continue;
    // An event stream does not end: its head shows that it was opened.
    const isStream = path.endsWith('/events');
    const own = isStream ? await streamStatus(at(path, id), cookie) : await statusOf(method, at(path, id));
    if (own === 200) opened.push(`${method} ${path}`);
    else t.equal(own, 403, `${method} ${path}`);
    t.equal(await statusOf(method, at(path, other.id)), 403, `${method} ${path} of another session`);
  }
  t.same(opened.sort(), [
    'GET /api/sessions/{id}',
    'GET /api/sessions/{id}/events',
    'GET /api/sessions/{id}/report',
    'GET /api/sessions/{id}/screenshots/{name}',
  ]);
  await sessions.remove(other.id, false);

  const client = await StreamClient.open(gateway.url, { cookie });
  await client.until(() => client.of('hello').length === 1);
  t.match(client.of('hello')[0], { viewOnly: true, capacity: { running: 0 } });
  const refused: StreamRequest[] = [
    { type: 'watchSessions' },
    { type: 'watchSession', id: other.id, after: 0 },
    { type: 'watchScreen', id: other.id, pace: 'live' },
    { type: 'copy', id },
    { type: 'input', id, inputs: [{ kind: 'text', text: 'x' }] },
  ] as const;
  for (const request of refused) client.ask(request);
  await client.until(() => client.of('refused').length === refused.length);
  t.same(new Set(client.of('refused').map(({ error }) => error.code)), new Set(['FORBIDDEN']));
  client.ask({ type: 'ping' });
  client.ask({ type: 'watchSession', id, after: 0 });
  client.ask({ type: 'watchScreen', id, pace: 'live' });
  await client.until(() => client.of('pong').length === 1);
  await client.until(() => client.of('events').length > 0 && client.of('frame').length > 0);
  await client.close();

  t.equal(await socketStatus(`/sessions/${id}/desktop`, cookie), 404, 'it has no desktop, which one may look at');
  t.equal(await socketStatus(`/sessions/${other.id}/desktop`, cookie), 403);
  t.equal(await socketStatus(`/sessions/${id}/cdp`, cookie), 403);

  await sessions.remove(id, false);
  t.equal(await statusOf('GET', `/api/sessions/${id}`), 200, 'the record of one that has ended is still shown');
  await sessions.remove(id, true);
  t.equal(await statusOf('GET', `/api/sessions/${id}`), 404);
  t.equal((await open(link)).status, 404);
});

t.test('A browser may have opened several links, and is still admitted by a token', async (t) => {
  const [one, two] = [await house.live(), await house.live()];
  const cookies = await Promise.all([one, two].map(async ({ id }) => (await open((await makeLink(id)).link)).cookie));
  const get = async (path: string, headers: { [name: string]: string }) =>
    (await httpCall(gateway.url, { method: 'GET', path, headers })).status;
  for (const { id } of [one, two]) t.equal(await get(`/api/sessions/${id}`, { cookie: cookies.join('; ') }), 200);
  t.equal(await get('/api/sessions', { cookie: cookies.join('; ') }), 403);
  t.equal(await get('/api/sessions', { cookie: cookies.join('; '), ...admin }), 200);
  for (const { id } of [one, two]) await sessions.remove(id, false);
});

t.test('A link that was changed, comes from another home, or has expired is refused', async (t) => {
  const { id } = await house.live();
  const { link } = await makeLink(id);
  const [, expiry = '', seal = ''] = link.split('.');
  const later = (Number.parseInt(expiry, 36) + 1).toString(36);
  const forged = [
    `${'a'.repeat(12)}.${expiry}.${seal}`,
    `${id}.${later}.${seal}`,
    `${id}.${expiry}.${seal.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`,
    `${id}.${expiry}.`,
    `${id}.${expiry}.${seal}.`,
    `${link}%00`,
    'x',
  ];
  for (const text of forged) {
    t.equal((await open(text)).status, 401, text);
    const cookie = `troupe${gateway.port}-${id}=${text}`;
    const answer = await httpCall(gateway.url, { method: 'GET', path: `/api/sessions/${id}`, headers: { cookie } });
    t.equal(answer.status, 401);
  }
  let now = new Date();
  const vault = { fingerprint: () => 's'.repeat(43) };
  const links = new ShareLinks({ vault, clock: { now: () => now } });
  const made = links.make(SessionId.parse(id), 10);
  t.match(links.read(made.link), { id });
  now = new Date(now.getTime() + 10_000);
  t.equal(links.read(made.link), null);

  const short = await open((await makeLink(id, '{"expiresIn": 1}')).link);
  const client = await StreamClient.open(gateway.url, { cookie: short.cookie });
  t.equal(await client.closed, 4401, 'a page that is open is told when the time is over');
  await sessions.remove(id, false);
});

async function streamStatus(path: string, cookie: string): Promise<number> {
  const cut = new AbortController();
  const { status } = await fetch(gateway.url + path, { headers: { cookie }, signal: cut.signal });
  cut.abort();
  return status;
}

async function socketStatus(path: string, cookie: string): Promise<number> {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}${path}`, { headers: { cookie } });
  const [error] = await once(socket, 'error', { signal: AbortSignal.timeout(60_000) });
  return Number(/\d+$/.exec(String(error))?.[0]);
}
