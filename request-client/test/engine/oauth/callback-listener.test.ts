import { createServer, type Server } from 'node:net';
import { runInNewContext } from 'node:vm';
import t, { type Test } from 'tap';
import { CallbackListener } from '#request-client/engine/oauth/callback-listener.js';
import { escapeMarkup } from '#troupe/report/escape.js';
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

async function listen(t: Test, { state = 'the-state' } = {}) {
  const listener = await CallbackListener.open({ ...expected, state }, await freePorts(1));
  t.teardown(() => listener.close());
  const call = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(listener.redirectUri.replace('/callback', path), init);
    return { status: answer.status, text: await answer.text(), policy: answer.headers.get('content-security-policy') };
  };
  return { listener, call };
}

const form = (body: string): RequestInit => ({
  method: 'POST',
  body,
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
});

t.test('the wait continues after what is no answer, and ends with the right one', async (t) => {
  await listen(t, { state: 'of-an-earlier-login' });
  const { listener, call } = await listen(t);
  let settled = false;
  void listener.answer.then(() => {
    settled = true;
  });
  const good = '/callback?code=c%2Fd&state=the-state&iss=https://login.example/x';
  for (const [path, status, init] of [
    ['/', 404],
    ['/favicon.ico', 404],
    ['/callback/?code=c&state=the-state', 404],
    ['/callback', 400],
    ['/callback?', 400],
    ['/callback?iss=https://evil.example&utm=1', 400],
    ['/callback?code=c&state=of-an-earlier-login', 400],
    ['/callback?error=access_denied&state=of-an-earlier-login', 400],
    [good, 405, { method: 'HEAD' }],
    [good, 405, { method: 'OPTIONS' }],
    [good, 415, { method: 'POST' }],
    ['/callback', 415, { method: 'POST', body: JSON.stringify({ code: 'c', state: 'the-state' }) }],
    ['/callback', 400, form('')],
    [good, 400, { headers: { 'Sec-Fetch-Dest': 'image' } }],
    [good, 400, { headers: { 'Sec-Fetch-Dest': 'document', 'Sec-Purpose': 'prefetch;prerender' } }],
  ] as const) {
    t.equal((await call(path, init)).status, status, `${path} ${JSON.stringify(init)}`);
  }
  t.equal(settled, false);
  const page = await call(good);
  t.equal(page.status, 200);
  t.match(page.policy, /default-src 'none'/);
  t.strictSame(await listener.answer, { kind: 'code', code: 'c/d' });
});

t.test('what is not the answer to this login is refused at once, with the reason', async (t) => {
  const ok = 'state=the-state';
  for (const [query, reason] of [
    ['code=stolen&state=other', /wrong state/],
    ['code=stolen&state=', /wrong state/],
    ['error=access_denied&state=other', /wrong state/],
    ['code=stolen', /no state/],
    [ok, /no code/],
    [`code=&${ok}`, /no code/],
    [`access_token=t&${ok}`, /no code/],
    [`code=c&${ok}&iss=https://evil.example`, /'https:\/\/evil\.example'.*Authorization URL/],
    [`code=c&${ok}&iss=https://login.example.evil.example/`, /evil/],
    [`code=c&${ok}&iss=http://login.example`, /'http:\/\/login\.example'/],
    [`code=c&${ok}&iss=https://login.example:444`, /:444/],
    [`code=c&${ok}&iss=`, /provider ''/],
    [`code=c&${ok}&iss=data:x`, /data:x/],
    [`error=access_denied&${ok}&iss=https://evil.example%1B%5B31m%0Ared`, /'https:\/\/evil\.example red'/],
    [`code=c&${ok}&${ok}`, /'state' twice/],
    [`code=c&code=d&${ok}`, /'code' twice/],
    [`code=c&${ok}&iss=https://login.example&iss=https://evil.example`, /'iss' twice/],
  ] as const) {
    const { listener, call } = await listen(t);
    const { status, text } = await call(`/callback?${query}`);
    t.equal(status, 400, query);
    const answer = await listener.answer;
    t.match(answer, { kind: 'refused', reason }, query);
    t.match(text, answer.kind === 'refused' ? escapeMarkup(answer.reason) : '', 'the page says it, too');
  }
});

t.test("the provider's error ends the wait, also without the state", async (t) => {
  for (const [query, error, description] of [
    ['error=access_denied&state=the-state&iss=https://login.example/', 'access_denied', ''],
    ['error=invalid_scope&error_description=no+%1B%5B31mred%1B%5B0m%0Aok', 'invalid_scope', 'no red ok'],
    ['error=x%0A%E2%80%A8y&code=&error_description=%E2%80%AE', 'x y', '\ufffd'],
  ] as const) {
    const { listener, call } = await listen(t);
    await call(`/callback?${query}`);
    t.strictSame(await listener.answer, { kind: 'error', error, description }, query);
  }
});

t.test('an answer may come as a form, or behind #', async (t) => {
  const posted = await listen(t);
  t.equal((await posted.call('/callback?code=not+this', form('code=c%2Fd&state=the-state'))).status, 200);
  t.strictSame(await posted.listener.answer, { kind: 'code', code: 'c/d' });
  const refused = await listen(t);
  await refused.call('/callback', form('code=c&state=other'));
  t.match(await refused.listener.answer, { kind: 'refused', reason: /wrong state/ });

  const { listener, call } = await listen(t);
  const { text } = await call('/callback');
  const [, nonce, source = ''] = /<script nonce="(\w+)">([^<]+)<\/script>/.exec(text) ?? [];
  t.match((await call('/callback')).policy, `'nonce-${nonce}'`);
  /** Where the script leads from such an address. */
  const next = (hash: string): string[] => {
    const led: string[] = [];
    runInNewContext(source, { location: { hash, replace: (url: string) => led.push(url) } });
    return led;
  };
  t.strictSame(next(''), []);
  const [path = ''] = next('#error=login_required&state=the-state');
  await call(path);
  t.strictSame(await listener.answer, { kind: 'error', error: 'login_required', description: '' });
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
