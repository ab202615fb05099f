import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { WebSocket } from 'ws';
import { readConfig } from '#troupe/config.js';
import type { SessionId } from '#troupe/protocol/session.js';
import type { StreamRequest } from '#troupe/protocol/stream.js';
import { eventually } from '../support/eventually.js';
import { httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { ROUTES } from '../support/routes.js';
import { client, makeHome, startTestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { startReceiver } from '../webhooks/receiver.js';

guardLeaks(t);
process.env.TROUPE_TEST_WEBHOOK_SECRET = 'a secret of the test';
process.env.TROUPE_TEST_TOKEN = 'correct-horse';

const PAGE = `data:text/html,${encodeURIComponent('<input aria-label="Letters" autofocus style="width:95vw;height:90vh">')}`;
const FLOWS = {
  'twice.js': `() => { agent.go(${JSON.stringify(PAGE)}); agent.handoff('Type <the> letters'); const typed = agent.value('{input}Letters'); agent.handoff('Once more'); return typed; }`,
  'once.js': `() => { agent.go(${JSON.stringify(PAGE)}); agent.handoff('Type it'); match(agent.value('{input}Letters'), 'abc'); }`,
  'short.js': `() => { try { agent.handoff('Be quick', {timeout: 3000}); } catch {} agent.wait(60000); }`,
};

const admin = { authorization: 'Bearer correct-horse' };
const home = makeHome(t, {
  token: 'TROUPE_TEST_TOKEN',
  publicUrl: 'http://troupe.test/',
  handoff: { link: true },
  webhookSecret: 'TROUPE_TEST_WEBHOOK_SECRET',
  webhooks: { allow: ['127.0.0.1'] },
  maxSessions: 3,
});
for (const [name, source] of Object.entries(FLOWS)) writeFileSync(join(home, 'flows', name), source);
const service = await startTestService(t, {}, home);
const asAdmin = client(service.url, admin);

async function submit(flow: string, webhook: string): Promise<SessionId> {
  const job = { prompt: 'a test', maxIterations: 0, flowFiles: [flow], webhook };
  const { status, body } = await asAdmin.call('POST', '/api/jobs', job);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}

/** Settles with the path of the link in the message about the handoff with this text. */
async function linkFor(receiver: Awaited<ReturnType<typeof startReceiver>>, text: string): Promise<string> {
  const found = () =>
    receiver.received
      .map(({ body }) => JSON.parse(body))
      .find(({ type, data }) => type === 'session.handoff' && data.handoff.text === text);
  await eventually(`the message about "${text}"`, () => found() !== undefined, 60_000);
  return new URL(found().data.handoff.link).pathname;
}

/** What a browser has after it was redirected to the page. */
async function open(path: string) {
  const { status, headers } = await httpCall(service.url, { method: 'GET', path });
  const [setCookie = ''] = [headers['set-cookie']].flat();
  return { status, location: headers.location, cookie: setCookie.split(';')[0] ?? '' };
}

const statusOf = async (cookie: string, method: string, path: string, body: object = {}) => {
  const sent = method === 'GET' ? {} : { body: JSON.stringify(body) };
  return (await httpCall(service.url, { method, path, headers: { cookie }, ...sent })).status;
};

t.test(
  'The message about a handoff has a link that lets one person do what the script asks, and nothing else',
  async (t) => {
    const receiver = await startReceiver(t);
    const id = await submit('twice.js', receiver.url);
    const other = await asAdmin.live();
    const path = await linkFor(receiver, 'Type <the> letters');
    t.match(path, /^\/shared\/[\w.-]+$/);
    // Chat programs fetch a link to show a preview of it.
    for (const method of ['HEAD', 'GET', 'GET']) await httpCall(service.url, { method, path });
    const { status, location, cookie } = await open(path);
    t.match({ status, location }, { status: 303, location: `/#/sessions/${id}` });
    t.match(cookie, /^troupe\d+-\w{12}-handoff=/);
    const record = async () => (await asAdmin.call('GET', `/api/sessions/${id}`)).body;
    const { handoff } = await record();
    const control = `/api/sessions/${id}/control`;
    const answerPath = `/api/sessions/${id}/handoff`;
    const take = async (headers: { [name: string]: string }, body: object) =>
      httpCall(service.url, { method: 'POST', path: control, headers, body: JSON.stringify(body) });

    // A view link of the same session must not gain anything.
    const shared = (await asAdmin.call('POST', `/api/sessions/${id}/links`, {})).body;
    const viewer = (await open(`/shared/${shared.link}`)).cookie;
    const [, , seal] = shared.link.split('.');
    t.equal(
      (await open(`/shared/${shared.link}.${handoff.id}`)).status,
      401,
      'the id of a handoff makes no other link',
    );
    t.equal((await open(path.replace(/\.[\w-]+$/, ''))).status, 401);
    t.equal((await open(path.replace(/\.[\w-]{43}\./, `.${seal}.`))).status, 401);
    t.equal((await open(path.replace(/\.[\w-]+$/, '.another'))).status, 401);

    const opened: string[] = [];
    const at = (route: string, of: string) =>
      route.replace('{id}', of).replace('{name}', '001-none.png').replace('{path...}', 'once.js');
    for (const { method, path: route, role } of ROUTES) {
      if (role === null) continue;
      if (route.endsWith('/events')) {
        const cut = new AbortController();
        const own = await fetch(service.url + at(route, id), { headers: { cookie }, signal: cut.signal });
        cut.abort();
        if (own.status === 200) opened.push(`${method} ${route}`);
        else t.equal(own.status, 403, route);
      } else {
        const own = await statusOf(cookie, method, at(route, id), { nothing: true });
        if (own === 403) t.equal(own, 403, `${method} ${route}`);
        else opened.push(`${method} ${route}`);
      }
      t.equal(await statusOf(cookie, method, at(route, other.id)), 403, `${method} ${route} of another session`);
      if (method !== 'GET')
        t.equal(await statusOf(viewer, method, at(route, id)), 403, `${method} ${route} with a share link`);
    }
    t.same(opened.sort(), [
      'GET /api/sessions/{id}',
      'GET /api/sessions/{id}/events',
      'GET /api/sessions/{id}/report',
      'GET /api/sessions/{id}/screenshots/{name}',
      'POST /api/sessions/{id}/control',
      'POST /api/sessions/{id}/handoff',
    ]);
    await asAdmin.call('DELETE', `/api/sessions/${other.id}`);
    t.equal(await socketStatus(`/sessions/${id}/cdp`, cookie), 403);

    const page = await StreamClient.open(service.url, { cookie });
    await page.until(() => page.of('hello').length === 1);
    t.match(page.of('hello')[0], { viewOnly: true, handoffs: [id], capacity: { max: 0 } });
    const refused: StreamRequest[] = [
      { type: 'watchSessions' },
      { type: 'watchSession', id: other.id as SessionId, after: 0 },
      { type: 'copy', id },
      { type: 'input', id: other.id as SessionId, inputs: [{ kind: 'text', text: 'x' }] },
    ];
    for (const request of refused) page.ask(request);
    await page.until(() => page.of('refused').length === refused.length);
    t.same(new Set(page.of('refused').map(({ error }) => error.code)), new Set(['FORBIDDEN']));

    // One person at a time: not from somebody with a token, and nobody gives back for another.
    const theirs = Object(await take(admin, { take: true }).then(({ json }) => json)).control;
    t.equal((await take({ cookie }, { take: true })).status, 409);
    t.equal((await take({ cookie }, { take: true, takeOver: true })).status, 403);
    t.equal((await take({ cookie }, { take: false })).status, 403);
    t.equal((await take({ cookie }, { take: false, control: 'x'.repeat(22) })).status, 409);
    t.equal((await take(admin, { take: false, control: theirs })).status, 200);

    const { control: key } = Object((await take({ cookie }, { take: true })).json);
    t.equal((await take({ cookie }, { take: true })).status, 409, 'a second person with the same link waits');
    t.equal(await statusOf(cookie, 'POST', `/sessions/${id}/proxy`, { js: '1', control: key }), 403, 'no scripts');
    page.ask({ type: 'holdControl', id, key });
    page.ask({ type: 'watchSession', id, after: 0 });
    page.ask({ type: 'input', id, inputs: [{ kind: 'text', text: 'abc' }] });
    t.equal(await statusOf(cookie, 'POST', answerPath, { answer: 'done', handoff: 'another' }), 403);
    t.equal(await statusOf(cookie, 'POST', answerPath, { answer: 'done' }), 200);
    t.equal(await page.closed, 4401, 'the open page ends with the handoff');
    t.equal(await statusOf(cookie, 'GET', `/api/sessions/${id}`), 403);
    t.equal((await open(path)).status, 403);
    await t.rejects(StreamClient.open(service.url, { cookie }), { message: /403/ });

    const next = await linkFor(receiver, 'Once more');
    t.equal(await statusOf(cookie, 'POST', answerPath, { answer: 'done' }), 403, 'it is not for the next handoff');
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    t.ok(ids.includes(`${id}_handoff-${handoff.id}`));
    t.equal((await open(path)).status, 403);
    const second = await open(next);
    t.equal(second.status, 303);
    const again = await StreamClient.open(service.url, { cookie: second.cookie });
    await again.until(() => again.of('hello').length === 1);
    t.equal((await take({ cookie: second.cookie }, { take: true })).status, 200);
    const delivered = (await asAdmin.call('GET', `/api/sessions/${id}/webhooks`)).body;
    t.equal(delivered.filter(({ moment }: { moment: string }) => moment === 'handoff').length, 2);
    await asAdmin.call('DELETE', `/api/sessions/${id}`);
    t.equal(await again.closed, 4401, 'the end of the session ends it');
    t.equal(await statusOf(second.cookie, 'GET', `/api/sessions/${id}`), 403);
    t.equal(await statusOf(second.cookie, 'POST', answerPath, { answer: 'done' }), 403);
    t.equal((await open(next)).status, 403);
  },
);

t.test('A link is of no use after the timeout of its handoff, and control that it gave has ended', async (t) => {
  const receiver = await startReceiver(t);
  const id = await submit('short.js', receiver.url);
  const path = await linkFor(receiver, 'Be quick');
  const { cookie } = await open(path);
  const body = JSON.stringify({ take: true });
  await httpCall(service.url, { method: 'POST', path: `/api/sessions/${id}/control`, headers: { cookie }, body });
  const ended = async () => (await asAdmin.call('GET', `/api/sessions/${id}`)).body.handoff === undefined;
  await eventually('the handoff has ended', ended, 60_000);
  t.equal((await open(path)).status, 403);
  const free = async () => (await asAdmin.call('POST', `/api/sessions/${id}/control`, { take: true })).status === 200;
  await eventually('nobody has control', free, 60_000);
  await asAdmin.call('DELETE', `/api/sessions/${id}`);
});

t.test('A batch in Slack format gets the text and the link, and a person works on the page', async (t) => {
  const receiver = await startReceiver(t);
  const { body: batch } = await asAdmin.call('POST', '/api/batches', {
    jobs: [{ prompt: 'pay', maxIterations: 0, flowFiles: ['once.js'] }],
    webhook: receiver.url,
    webhookFormat: 'slack',
  });
  await receiver.until(1);
  const message = JSON.parse(receiver.received[0]?.body ?? '');
  t.equal(message.text, 'pay is waiting for a person: Type it');
  const [, path = ''] =
    /<http:\/\/troupe\.test(\/shared\/[\w.-]+)\|Open the session>/.exec(JSON.stringify(message)) ?? [];

  const reader = await openReader(t);
  await reader.page.goto(service.url + path);
  await reader.shows('Type it');
  await reader.page.getByRole('button', { name: 'Take control' }).click();
  await reader.shows('You have control');
  const canvas = reader.page.locator('canvas.shown');
  await reader.holds('document.querySelector("canvas.shown")?.width > 300');
  await canvas.click();
  await reader.page.keyboard.type('abc');
  const { TROUPE_TEST_PICTURE } = process.env;
  if (TROUPE_TEST_PICTURE !== undefined) await reader.page.screenshot({ path: TROUPE_TEST_PICTURE });
  await reader.page.getByRole('button', { name: 'Done' }).click();
  await reader.shows('The script no longer waits');
  const state = async () => (await asAdmin.call('GET', `/api/batches/${batch.id}`)).body.state;
  await eventually('the batch has ended', async () => /completed|failed/.test(await state()), 60_000);
  t.equal(await state(), 'completed', 'what the person typed reached the page');
});

t.test('Links need an address that people reach the service at', async (t) => {
  const place = makeHome(t, { handoff: { link: true } });
  t.throws(() => readConfig({}, { ...process.env, TROUPE_HOME: place }), {
    code: 'INVALID_REQUEST',
    message: /handoff\.link .*"publicUrl"/s,
  });
});

async function socketStatus(path: string, cookie: string): Promise<number> {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}${path}`, { headers: { cookie } });
  const [error] = await once(socket, 'error', { signal: AbortSignal.timeout(60_000) });
  return Number(/\d+$/.exec(String(error))?.[0]);
}
