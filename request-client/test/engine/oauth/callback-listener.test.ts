import { createServer, type Server } from 'node:net';
import t from 'tap';
import { CallbackListener } from '#request-client/engine/oauth/callback-listener.js';
import { freePorts } from '../../../../test/support/free-ports.js';
import { guardLeaks } from '../../../../test/support/leaks.js';

guardLeaks(t);
const expected = { state: 'the-state', issuers: ['https://login.example'] };

async function occupy(port: number, host: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => {
    server.listen(port, host, resolve);
  });
  return server;
}

t.test('only the right state is accepted, and the wait continues after a wrong one', async (t) => {
  const listener = await CallbackListener.open(expected, await freePorts(1));
  t.teardown(() => listener.close());
  const call = async (path: string, method = 'GET') => {
    const answer = await fetch(listener.redirectUri.replace('/callback', path), { method });
    return { status: answer.status, text: await answer.text(), policy: answer.headers.get('content-security-policy') };
  };
  for (const [path, status] of [
    ['/', 404],
    ['/callback', 400],
    ['/callback?code=stolen', 400],
    ['/callback?code=stolen&state=other', 400],
    ['/callback?code=stolen&state=the-state&iss=https://evil.example', 400],
    ['/callback?state=the-state', 400],
  ] as const) {
    t.equal((await call(path)).status, status, path);
  }
  t.equal((await call('/callback?code=stolen&state=the-state', 'POST')).status, 405);
  const good = await call('/callback?code=c%2Fd&state=the-state&iss=https://login.example/x');
  t.equal(good.status, 200);
  t.match(good.policy, /default-src 'none'/);
  t.strictSame(await listener.answer, { kind: 'code', code: 'c/d' });
});

t.test('texts of the provider are text on the page, never markup', async (t) => {
  const listener = await CallbackListener.open(expected, await freePorts(1));
  t.teardown(() => listener.close());
  const said = '<img src=x onerror=alert(1)>';
  const answer = await fetch(
    `${listener.redirectUri}?state=the-state&error=access_denied&error_description=${encodeURIComponent(said)}`,
  );
  t.notMatch(await answer.text(), '<img');
  t.strictSame(await listener.answer, { kind: 'error', error: 'access_denied', description: said });
});

t.test('the first free port of the list is used; one that is open to the network counts as used', async (t) => {
  const ports = await freePorts(4);
  const [first = 0, second = 0, third = 0, fourth = 0] = ports;
  const busy = [await occupy(first, '127.0.0.1'), await occupy(second, '0.0.0.0')];
  const listener = await CallbackListener.open(expected, ports);
  t.equal(listener.redirectUri, `http://127.0.0.1:${third}/callback`);
  busy.push(await occupy(fourth, '127.0.0.1'));
  await t.rejects(CallbackListener.open(expected, ports), {
    code: 'LOGIN_FAILED',
    message: new RegExp(`callback ports are in use \\(${ports.join(', ')}\\); free one of them, or restart the client`),
    details: { cause: 'PORTS_TAKEN' },
  });
  listener.close();
  const again = await CallbackListener.open(expected, ports);
  t.equal(again.redirectUri, listener.redirectUri);
  again.close();
  for (const server of busy) server.close();
});
