import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { NetworkLog } from '#troupe/agent-js/network/network-log.js';
import { failedRequests, harPieces, NETWORK_LOG } from '#troupe/report/har.js';
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
    t.match(har, { version: '1.2', creator: { name: 'Troupe' }, pages: [] });
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
    `<script>fetch('/unread', { method: 'POST' }).then(() => { document.body.append('answered'); fetch('/silent') })</script>`,
  );
  await call('go', path);
  await call('wait', '{*}answered');
  await waiting;
  await log.close();
  t.match(await failedRequests(dir), [
    { request: { method: 'POST', url: `${site.origin}/unread`, status: 500 } },
    { request: { method: 'GET', url: `${site.origin}/silent`, status: null, error: /no answer/ } },
  ]);
});

t.test('a session that asked for nothing has no archive', async (t) => {
  const file = join(t.testdir({}), NETWORK_LOG);
  await new NetworkLog({ file, redact: (entry) => entry }).close();
  t.notOk(existsSync(file));
});
