import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { bounds } from '../containers/driver-fixture.js';
import { connectBrowser, openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test('A page has what the session asks for, and so has every tab that it opens', async (t) => {
  const lease = await openBrowser(t);
  const site = await openSite(t);
  const asked: IncomingMessage[] = [];
  site.set('/', (request, response) => {
    asked.push(request);
    response.setHeader('content-type', 'text/html').end('<title>Seen</title><a target=_blank href="/?new">New</a>');
  });
  const { call } = await openAgent(t, lease, {
    options: {
      viewport: { width: 640, height: 480 },
      locale: 'de-DE',
      timezone: 'Asia/Tokyo',
      userAgent: 'Tester/1.0',
      headers: { 'x-team': 'blue' },
    },
  });
  const seen = `[innerWidth, innerHeight, navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone,
    navigator.userAgent, (1234.5).toLocaleString()]`;
  const wanted = [640, 480, 'de-DE', 'Asia/Tokyo', 'Tester/1.0', '1.234,5'];
  await call('go', `${site.origin}/`);
  t.same(await call('page', seen), wanted);
  await call('act', '{a}New', 'click');
  t.same(await call('page', seen), wanted);
  t.equal(asked.length, 2);
  for (const { headers } of asked) {
    t.match(headers, { 'x-team': 'blue', 'user-agent': 'Tester/1.0', 'accept-language': /^de-DE/ });
  }
});

t.test('Credentials are given to who asks for them, and a stored state is there from the beginning', async (t) => {
  const lease = await openBrowser(t);
  const site = await openSite(t);
  let requests = 0;
  site.set('/', (request, response) => {
    requests++;
    const given = Buffer.from(request.headers.authorization?.slice('Basic '.length) ?? '', 'base64').toString();
    if (given !== 'ada:secret') {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="r"' }).end();
      return;
    }
    response.setHeader('content-type', 'text/html').end(`<title>In</title><p>${request.headers.cookie}</p>`);
  });
  const cookie = {
    name: 'sid',
    value: '42',
    domain: '127.0.0.1',
    path: '/',
    expires: -1,
    httpOnly: true,
    secure: false,
  };
  const { call } = await openAgent(t, lease, {
    options: {
      httpCredentials: { username: 'ada', password: 'secret' },
      storageState: {
        cookies: [{ ...cookie, sameSite: 'Lax' }],
        origins: [{ origin: site.origin, localStorage: [{ name: 'token', value: 'abc' }] }],
      },
    },
  });
  t.equal(requests, 0, 'restoring it asks no server');
  t.match(await call('go', `${site.origin}/`), { status: 200, title: 'In' });
  t.equal(await call('text', 'p'), 'sid=42');
  t.equal(await call('page', 'localStorage.token'), 'abc');

  const other = await openSite(t);
  other.set('/', (_, response) => response.writeHead(401, { 'www-authenticate': 'Basic realm="other"' }).end());
  t.match(await call('go', `${other.origin}/`), { status: 401 }, 'wrong ones are not tried for ever');
});

t.test('A proxy and a site are each told their own credentials, also on the way to a site with TLS', async (t) => {
  const seen: { readonly by: 'proxy' | 'site' | 'tunnel'; readonly told: string }[] = [];
  const decoded = (header = '') => Buffer.from(header.slice('Basic '.length), 'base64').toString();
  const proxy = createServer(({ headers }, response) => {
    const told = decoded(headers['proxy-authorization']);
    seen.push({ by: 'proxy', told });
    if (told !== 'gate:key') {
      response.writeHead(407, { 'proxy-authenticate': 'Basic realm="p"' }).end();
      return;
    }
    seen.push({ by: 'site', told: decoded(headers.authorization) });
    if (decoded(headers.authorization) === 'ada:secret') response.end('<title>In</title>');
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="s"' }).end('<title>Out</title>');
  });
  proxy.on('connect', ({ headers }, socket) => {
    const told = decoded(headers['proxy-authorization']);
    seen.push({ by: 'tunnel', told });
    socket.end(
      told === ''
        ? 'HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm="p"\r\nContent-Length: 0\r\n\r\n'
        : 'HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n',
    );
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => proxy.close());
  const credentials = { username: 'gate', password: 'key' };
  const place = { server: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, ...credentials };
  const lease = await openBrowser(t, place);
  const { call, failure, browser } = await openAgent(t, lease, {
    options: { proxy: place, httpCredentials: { username: 'ada', password: 'secret' } },
  });
  t.match(await call('go', 'http://shop.invalid/'), { status: 200, title: 'In' });
  t.match(await failure('go', 'https://shop.invalid/'), { code: 'ACTION_FAILED' });
  const told = (by: string) => [...new Set(seen.filter((one) => one.by === by).map((one) => one.told))];
  t.same(told('proxy'), ['', 'gate:key']);
  t.same(told('site'), ['', 'ada:secret']);
  t.ok(told('tunnel').includes('gate:key'));
  await browser.close();

  seen.length = 0;
  const without = await openAgent(t, lease, { options: { proxy: place }, takesOver: true });
  t.match(await without.call('go', 'http://other.invalid/'), { status: 401, title: 'Out' });
  t.same(told('site'), [''], 'a site that asks is not told what the proxy is told');
});

t.test('An option that the browser refuses is a fault of the request', async (t) => {
  const lease = await openBrowser(t);
  for (const [options, field] of [
    [{ timezone: 'Mars/Olympus' }, /timezone/],
    [{ storageState: { cookies: 7 } }, /storageState/],
  ] as const) {
    await t.rejects(connectBrowser(t, lease, options, bounds()), { code: 'INVALID_REQUEST', message: field });
  }
});

t.test('A page outlives its connection, and is found again by the next', async (t) => {
  const lease = await openBrowser(t);
  const site = await openSite(t);
  const first = await openAgent(t, lease);
  await first.call('go', site.set('/', '<title>Kept</title><input aria-label=Name>'));
  await first.call('act', '{input}Name', 'input', 'typed');
  await first.browser.close();
  await first.browser.close();
  t.match(await first.browser.lost, { reason: /disconnected from its browser/ });
  t.match(await first.failure('look'), { code: 'WORKER_LOST' });

  const second = await openAgent(t, lease, { takesOver: true });
  t.match(await second.look(), { title: 'Kept', elements: [{ value: 'typed' }] });
  await second.call('act', '{input}Name', 'input', 'more');
  t.equal(await second.call('value', '{input}Name'), 'more');
});

t.test('A connection that takes over closes the page that does not answer, and keeps the others', async (t) => {
  const lease = await openBrowser(t);
  const site = await openSite(t);
  const { browser, call } = await openAgent(t, lease);
  await call('go', site.set('/', '<title>Kept</title>'));
  const hangs = new Promise<void>((resolve) => {
    site.set('/hangs', (_, response) => void response.end(resolve));
  });
  const lastWords = `const asked = new XMLHttpRequest(); asked.open('GET', '/hangs', false); asked.send(); for (;;);`;
  const hung = site.set('/hung', `<title>Hung</title><script>setTimeout(() => { ${lastWords} }, 100)</script>`);
  // Without an opener it has a process of its own, so that it holds up no other page.
  const { targetId } = await browser.send('Target.createTarget', { url: hung });
  await hangs;
  await browser.close();
  const taken = await connectBrowser(t, lease, {}, { ...bounds(), takesOver: true });
  const pages = new Set<string>();
  taken.onPage((page) => pages.add(page.targetId));
  t.equal(taken.pageLost, true);
  t.equal(pages.size, 1);
  t.notOk(pages.has(targetId));
  await taken.close();
});

t.test('The end of a browser is reported, and calls under way end', async (t) => {
  const lease = await openBrowser(t);
  const { browser, call, failure } = await openAgent(t, lease);
  const waiting = [failure('wait', '{h1}Never'), failure('wait', 'navigation')];
  await call('page', '1');
  const released = lease.release();
  t.match(await browser.lost, { reason: /closed|reset/ });
  t.match(await Promise.all(waiting), [{ code: 'WORKER_LOST' }, { code: 'WORKER_LOST' }]);
  await released;
  await t.rejects(async () => connectBrowser(t, lease, {}, bounds(2_000)), { code: 'WORKER_LOST' });
});

t.test('A message longer than is read ends the connection alone, and the next one takes over', async (t) => {
  const lease = await openBrowser(t);
  const { browser, failure } = await openAgent(t, lease);
  const flood = `document.title = 'Flooded'; console.log('x'.repeat(130 * 1024 * 1024))`;
  t.match(await failure('page', flood), { code: 'SESSION_RESTARTED', error: /128 MiB/ });
  t.match(await browser.lost, { error: { code: 'SESSION_RESTARTED' } });
  const next = await openAgent(t, lease, { takesOver: true });
  t.match(await next.look(), { title: 'Flooded' });
});

t.test('Connecting ends with its signal, and leaves nothing', async (t) => {
  const lease = await openBrowser(t);
  const reason = new Error('no longer wanted');
  await t.rejects(connectBrowser(t, lease, {}, { signal: AbortSignal.abort(reason), deadlineMs: 1_000 }), reason);
  const abort = new AbortController();
  const connecting = connectBrowser(t, lease, {}, { signal: abort.signal, deadlineMs: 5_000 });
  abort.abort(reason);
  await t.rejects(connecting, reason);
});
