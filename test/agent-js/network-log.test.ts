import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { NetworkLog } from '#troupe/agent-js/network/network-log.js';
import { harPieces, NETWORK_LOG, notedRequests } from '#troupe/report/har.js';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

t.test(
  'what pages ask of the network stands in an archive, redirects and failures too, without credentials',
  async (t) => {
    const dir = t.testdir({});
    const file = join(dir, NETWORK_LOG);
    const site = await openSite(t);
    const { call, browser } = await openAgent(t, await openBrowser(t));
    const log = new NetworkLog({
      file,
      redact: (entry) => JSON.parse(JSON.stringify(entry).replaceAll('hush', '{{it}}')),
    });
    browser.listen((event) => log.observe(event));
    site.set('/old', (_, response) => response.writeHead(302, { location: '/new', 'set-cookie': 'a=b' }).end());
    site.set(
      '/new',
      `<title>New</title><script>fetch('/data?token=hush', {headers: {authorization: 'Bearer b'}}).then((data) => data.text()).then(() => fetch('http://127.0.0.1:1/')).catch(() => document.body.append('over'))</script>`,
    );
    site.set('/data', (_, response) => response.writeHead(201, { 'content-type': 'application/json' }).end('{}'));
    await call('go', `${site.origin}/old`);
    await call('wait', '{*}over');
    await log.close();
    t.equal(await harPieces(join(dir, 'nowhere')), null);
    writeFileSync(file, `${readFileSync(file, 'utf8')}{"cut by a ki`);
    let text = '';
    for await (const piece of (await harPieces(dir)) ?? []) text += piece;
    const { log: har } = JSON.parse(text);
    t.match(har, { version: '1.2', creator: { name: 'Troupe' }, pages: [{ title: `${site.origin}/old` }] });
    t.match(har.pages[0].pageTimings, { onContentLoad: Number, onLoad: Number });
    t.ok(har.pages[0].pageTimings.onLoad > 0);
    const seen = har.entries.map(
      ({ request, response }: { request: { url: string }; response: { status: number } }) => [
        request.url.replace(site.origin, ''),
        response.status,
      ],
    );
    for (const entry of [
      ['/old', 302],
      ['/new', 200],
      ['/data?token={{it}}', 201],
      ['http://127.0.0.1:1/', 0],
    ]) {
      t.ok(
        seen.some((one: unknown) => JSON.stringify(one) === JSON.stringify(entry)),
        JSON.stringify(entry),
      );
    }
    t.notMatch(text, /Bearer|hush|a=b/);
    t.same(
      har.entries.map((entry: { pageref: string }) => entry.pageref),
      har.entries.map(() => har.pages[0].id),
      'every request belongs to the page',
    );
    t.notMatch(text, /"postData"|"text"/, 'bodies are kept only if they are wanted');
    const data = har.entries.find(({ request }: { request: { url: string } }) => request.url.includes('/data'));
    t.match(data, {
      startedDateTime: /^\d{4}-\d\d-\d\dT/,
      time: Number,
      request: { method: 'GET', queryString: [{ name: 'token', value: '{{it}}' }] },
      response: { content: { mimeType: 'application/json' } },
      timings: { send: 0, wait: Number, receive: Number },
    });
  },
);

t.test('Answers whose body no page reads, and requests without an answer, are in the archive too', async (t) => {
  const dir = t.testdir({});
  const site = await openSite(t);
  const { call, browser } = await openAgent(t, await openBrowser(t));
  const log = new NetworkLog({ file: join(dir, NETWORK_LOG), redact: (entry) => entry });
  browser.listen((event) => log.observe(event));
  site.set('/unread', (_, response) => response.writeHead(500, { 'content-type': 'application/json' }).end('{}'));
  let asked: () => void = () => undefined;
  const waiting = new Promise<void>((resolve) => {
    asked = resolve;
  });
  site.set('/silent', () => asked());
  const path = site.set(
    '/start',
    `<body><script>fetch('/unread', { method: 'POST' }).then(() => { document.body.append('answered'); fetch('/silent') })</script>`,
  );
  await call('go', path);
  await call('wait', '{*}answered');
  await waiting;
  await log.close();
  const { failed, long } = await notedRequests(dir);
  t.match(failed, [{ request: { method: 'POST', url: `${site.origin}/unread`, status: 500 } }]);
  const pending = long.filter(({ until }) => until === null);
  t.match(pending, [{ method: 'GET', url: `${site.origin}/silent` }]);
});

t.test('What an error says is known to reports, without secrets, and is in no archive', async (t) => {
  const dir = t.testdir({});
  const site = await openSite(t);
  const { call, browser } = await openAgent(t, await openBrowser(t));
  const redact = <T>(entry: T): T => JSON.parse(JSON.stringify(entry).replaceAll('hush', '{{it}}'));
  const log = new NetworkLog({ file: join(dir, NETWORK_LOG), redact });
  browser.listen((event) => log.observe(event));
  log.attach(browser);
  const body = JSON.stringify({ error: 'the "card" is hush', password: 'swordfish', rest: 'x'.repeat(9_000) });
  site.set('/refused', (_, response) => response.writeHead(422, { 'content-type': 'application/json' }).end(body));
  const page = '<style>p { color: red }</style><h1>Out of order</h1><p>since &lt;noon&gt;</p>';
  site.set('/broken', (_, response) => response.writeHead(500, { 'content-type': 'text/html' }).end(page));
  site.set('/missing', (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end(page));
  const ask = ['refused', 'broken', 'missing'].map((path) => `await (await fetch('/${path}')).text();`).join(' ');
  await call('go', site.set('/start', `<script type=module>${ask} document.body.append('over')</script>`));
  await call('wait', '{*}over');
  await log.close();
  const { failed } = await notedRequests(dir);
  const requestOf = (path: string) => failed.find(({ request }) => request.url.endsWith(path))?.request;
  const [refused, broken, missing] = [requestOf('/refused'), requestOf('/broken'), requestOf('/missing')];
  t.match(refused, { status: 422, body: /^\{"error":"the \\"card\\" is \{\{it\}\}","password":"\(hidden\)"/ });
  t.ok((refused?.body?.length ?? 0) < 600, 'cut');
  t.equal(broken?.body, 'Out of order since &lt;noon&gt;');
  t.match(missing, { status: 404 });
  t.equal(missing?.body, undefined);
  let archive = '';
  for await (const piece of (await harPieces(dir)) ?? []) archive += piece;
  const { entries }: { entries: readonly { request: { url: string } }[] } = JSON.parse(archive).log;
  // A browser with a window asks for an icon.
  t.equal(entries.filter(({ request }) => !request.url.endsWith('/favicon.ico')).length, 4);
  t.notMatch(archive, /swordfish|card|Out of order|_errorBody/);
});

t.test('Bodies are kept if they are wanted, without credentials, and a long one is left out', async (t) => {
  const dir = t.testdir({});
  const site = await openSite(t);
  const { call, browser } = await openAgent(t, await openBrowser(t));
  const redact = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('hush', '{{it}}'));
  const log = new NetworkLog({ file: join(dir, NETWORK_LOG), redact });
  browser.listen((event) => log.observe(event));
  log.keepBodies(browser);
  const json = { 'content-type': 'application/json' };
  site.set('/form', (_, response) => response.writeHead(200, json).end('{"said":"hush","token":"t0k3n","n":1}'));
  site.set('/long', (_, response) => response.end('x'.repeat(300_000)));
  site.set('/dot', (_, response) =>
    response.writeHead(200, { 'content-type': 'image/gif' }).end(Buffer.from('R0lGODlhAQABAAAAACw=', 'base64')),
  );
  site.set('/take', (request, response) => request.resume().on('end', () => response.end('taken')));
  const script = `(async () => {
    const text = async (path, body) => (await fetch(path, body === undefined ? {} : { method: 'POST', body })).text();
    await text('/form', new URLSearchParams({ user: 'ada', password: 'lovelace', note: 'hush' }));
    await text('/long');
    await (await fetch('/dot')).arrayBuffer();
    await text('/take?json', JSON.stringify({ name: 'Ada', passwordAgain: 'love"lace', city: 'London' }));
    await text('/take?long', 'y'.repeat(400_000));
    document.body.append('over');
  })()`;
  await call('go', site.set('/start', `<title>Start</title><body><script>${script}</script>`));
  await call('wait', '{*}over');
  await log.close();
  let text = '';
  for await (const piece of (await harPieces(dir)) ?? []) text += piece;
  const { entries } = JSON.parse(text).log;
  const entryOf = (path: string) =>
    entries.find(({ request }: { request: { url: string } }) => request.url === site.origin + path);
  t.match(entryOf('/start'), { response: { content: { text: /<title>Start/ } } });
  t.match(entryOf('/form'), {
    request: { postData: { mimeType: /urlencoded/, text: 'user=ada&password=(hidden)&note={{it}}' } },
    response: { content: { text: '{"said":"{{it}}","token":"(hidden)","n":1}' } },
  });
  t.match(entryOf('/long').response.content, { comment: /^left out: 30\d{4} bytes, more than 262144$/ });
  t.match(entryOf('/dot').response.content, { text: 'R0lGODlhAQABAAAAACw=', encoding: 'base64' });
  t.match(entryOf('/take?json').request.postData, {
    text: '{"name":"Ada","passwordAgain":"(hidden)","city":"London"}',
  });
  t.match(entryOf('/take?long').request.postData, { text: '', comment: /^left out: / });
});

t.test('a session that asked for nothing has no archive', async (t) => {
  const file = join(t.testdir({}), NETWORK_LOG);
  await new NetworkLog({ file, redact: (entry) => entry }).close();
  t.notOk(existsSync(file));
});

// What the browser really says: the table of all that it may say is in request-ends.test.ts.
t.test('Answers without a body, and bodies that a page no longer wants, are no failures', async (t) => {
  const dir = t.testdir({});
  const site = await openSite(t);
  const { call, browser } = await openAgent(t, await openBrowser(t));
  const log = new NetworkLog({ file: join(dir, NETWORK_LOG), redact: (entry) => entry });
  browser.listen((event) => log.observe(event));
  const plain = { 'content-type': 'text/plain' };
  for (const status of [204, 205, 304]) site.set(`/${status}`, (_, response) => response.writeHead(status).end());
  site.set('/moved', (_, response) => response.writeHead(302, { location: '/204?moved' }).end());
  site.set('/head', (_, response) => response.writeHead(200, { 'content-length': '50' }).end());
  site.set('/unread', (_, response) => response.writeHead(200, plain).end('unread'));
  site.set('/endless', (_, response) => response.writeHead(200, plain).write('first'));
  site.set('/events', (_, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: a\n\n'),
  );
  site.set('/part', (_, response) => response.writeHead(200, { ...plain, 'content-length': '100' }).write('abc'));
  site.set('/short', (_, response) => {
    response.writeHead(200, { ...plain, 'content-length': '100' }).write('abc', () => response.socket?.end());
  });
  site.set('/reset', (_, response) => void response.socket?.resetAndDestroy());
  site.set('/attached', (_, response) =>
    response
      .writeHead(200, { 'content-disposition': 'attachment; filename=a.txt', 'content-length': '5' })
      .end('hello'),
  );
  const script = `(async () => {
    const ask = (path, options) => fetch(path, options).catch(() => null);
    for (const path of ['/204', '/205', '/304']) await ask(path, { method: 'DELETE' });
    await ask('/moved');
    await ask('/head', { method: 'HEAD' });
    navigator.sendBeacon('/204?beacon', 'x');
    await ask('/unread');
    const reader = (await ask('/endless')).body.getReader();
    await reader.read();
    await reader.cancel();
    const events = new EventSource('/events');
    await new Promise((resolve) => { events.onmessage = resolve; });
    events.close();
    const abort = new AbortController();
    const part = await ask('/part', { signal: abort.signal });
    const read = part.text().catch(() => null);
    abort.abort();
    await read;
    await (await ask('/short')).text().catch(() => null);
    await ask('/reset');
    document.body.append('over');
  })()`;
  await call('go', site.set('/start', `<title>Start</title><body><script>${script}</script>`));
  await call('wait', '{*}over');
  const stayed = await call('go', `${site.origin}/204?page`);
  t.match(stayed, { url: `${site.origin}/start`, title: 'Start', status: 204 }, 'the page stays, as browsers do it');
  await call('go', `${site.origin}/attached`);
  await log.close();
  let text = '';
  for await (const piece of (await harPieces(dir)) ?? []) text += piece;
  const errors: { [path: string]: string | null } = {};
  for (const { request, response } of JSON.parse(text).log.entries) {
    errors[request.url.replace(site.origin, '')] = response._error ?? null;
  }
  const answered = ['/204', '/205', '/304', '/moved', '/204?moved', '/head', '/204?beacon', '/unread', '/endless'];
  for (const path of [...answered, '/events', '/204?page', '/attached']) t.equal(errors[path], null, path);
  t.equal(errors['/part'], 'net::ERR_ABORTED');
  t.match(errors['/short'], /^net::ERR_/);
  t.match(errors['/reset'], /^net::ERR_/);
});
