import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { WindowServer } from '#request-client/window/window-server.js';
import { Workspace } from '#request-client/window/workspace.js';
import { guardLeaks } from '../../../test/support/leaks.js';

guardLeaks(t);
const workspace = new Workspace({ openBrowser: async () => undefined });
const server = await WindowServer.start({ workspace, folder: '.', port: 0 });
t.teardown(async () => {
  await server.close();
  await workspace.close();
});
const { host, port, hash } = new URL(server.url);
/** fetch would set Host and Origin by itself. */
async function ask(method: string, path: string, headers: Record<string, string> = {}, body = '') {
  const sent = request({ host: '127.0.0.1', port, method, path, headers: { Host: host, ...headers } });
  sent.end(body);
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve);
    sent.once('error', reject);
  });
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

const enter = (key: string) => ask('POST', '/api/enter', {}, JSON.stringify({ key }));
const keyOf = (url: string): string => new URL(url).hash.slice(1);
const Authorization = `Bearer ${JSON.parse((await enter(keyOf(server.url))).body).secret}`;

t.test('only a client with the secret of this start gets answers', async (t) => {
  t.match(await ask('GET', '/api/document', { Authorization }), { status: 200, body: /"name":"New collection"/ });
  for (const headers of [
    {},
    { Authorization: 'Bearer x' },
    { Authorization: 'Bearer ' },
    { Authorization: `Bearer ${hash.slice(1)}` },
  ]) {
    t.match(await ask('GET', '/api/document', headers), { status: 401, body: /UNAUTHORIZED/ });
  }
});

t.test('the printed URL works any number of times, the opened one once', async (t) => {
  t.equal((await enter(keyOf(server.url))).status, 200);
  const once = keyOf(server.openingUrl());
  t.equal((await enter(once)).status, 200);
  t.equal((await enter(once)).status, 401);
  t.equal((await enter('')).status, 401);
});

t.test('pages of other origins and foreign names for this machine get nothing', async (t) => {
  for (const headers of [
    { Host: 'rebound.example' },
    { Host: `rebound.example:${port}` },
    { Origin: 'https://evil.example' },
    { Origin: 'http://127.0.0.1:1' },
    { Origin: 'null' },
  ]) {
    t.match(await ask('GET', '/api/document', { Authorization, ...headers }), { status: 403 });
    t.match(await ask('GET', '/', headers), { status: 403 });
  }
  t.match(await ask('GET', '/', { Origin: `http://${host}` }), { status: 200 });
});

t.test('the page may load only its own files, and cannot be framed', async (t) => {
  const { headers, body } = await ask('GET', '/');
  const [, nonce = ''] = /style-nonce" content="([^"]+)"/.exec(body) ?? [];
  const policy = String(headers['content-security-policy']);
  t.ok(nonce.length > 20 && policy.includes(`style-src 'self' 'nonce-${nonce}'`));
  t.match(policy, /default-src 'none'; script-src 'self';/);
  t.match(policy, /frame-ancestors 'none'/);
  t.notMatch(policy, /unsafe/);
  t.notMatch((await ask('GET', '/')).body, nonce);
});

t.test('unknown, forbidden and malformed requests get their error codes', async (t) => {
  t.match(await ask('GET', '/../../package.json'), { status: 404 });
  t.match(await ask('GET', '/api/nothing', { Authorization }), { status: 404 });
  t.match(await ask('PUT', '/api/document', { Authorization }), { status: 405 });
  t.match(await ask('POST', '/', {}), { status: 405 });
  t.match(await ask('POST', '/api/import', { Authorization }, '{'), { status: 400, body: /INVALID_JSON/ });
  t.match(await ask('POST', '/api/import', { Authorization }, '{"text": 7}'), { status: 400, body: /INVALID_REQUEST/ });
  t.match(await ask('GET', '/api/items/i99', { Authorization }), { status: 404 });
  t.match(await ask('GET', '/api/history/s99/body', { Authorization }), { status: 404 });
  const open = JSON.stringify({ path: 'package.json' });
  t.match(await ask('POST', '/api/document/open', { Authorization }, open), { status: 400, body: /not a collection/ });
});

t.test('the page can end the client', async () => {
  await ask('POST', '/api/quit', { Authorization });
  await server.quit;
});
