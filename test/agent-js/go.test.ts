import type { ServerResponse } from 'node:http';
import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const lease = await openBrowser(t);
const site = await openSite(t);
const { call, callWithin, failure, look } = await openAgent(t, lease);
site.set('/b', '<title>B</title>');
site.set('/a', '<title>A</title><h1>Page A</h1><p id=there>Here');

t.test('go answers url, title and status, and resolves relative addresses', async (t) => {
  t.same(await call('go', `${site.origin}/a`), { url: `${site.origin}/a`, title: 'A', status: 200 });
  t.same(await call('go', '/missing'), { url: `${site.origin}/missing`, title: 'Nothing here', status: 404 });
  t.same(await call('go', 'a#there'), { url: `${site.origin}/a#there`, title: 'A', status: 200 });
  t.match(await call('go', '#elsewhere'), { url: `${site.origin}/a#elsewhere` });
  t.same(await call('go', 'data:text/html,<title>Data</title>'), {
    url: 'data:text/html,<title>Data</title>',
    title: 'Data',
    status: null,
  });
  t.match(await call('go', 'about:blank'), { url: 'about:blank', title: '', status: null });
});

t.test('A host without a scheme is told how it is written, and taken for no path of the page', async (t) => {
  for (const page of ['about:blank', `${site.origin}/a`]) {
    await call('go', page);
    for (const host of ['www.example.test', 'example.com', 'docs.example.org/start?q=1#top']) {
      const told = { code: 'ACTION_FAILED', error: `"${host}" has no scheme. Did you mean https://${host}?` };
      t.match(await failure('go', host), told, `${host} on ${page}`);
    }
  }
  t.match(await call('go', './example.com'), { url: `${site.origin}/example.com`, status: 404 });
  t.match(await call('go', 'report.html'), { url: `${site.origin}/report.html`, status: 404 });
});

t.test('back goes back, and says when there is nothing to go back to', async (t) => {
  await call('go', `${site.origin}/a`);
  await call('go', `${site.origin}/b`);
  t.match(await call('back'), { url: `${site.origin}/a`, title: 'A' });
  await call('page', 'history.pushState(null, "", "/a?state"); null');
  t.match(await call('back'), { url: `${site.origin}/a`, title: 'A' });
  for (let steps = 0; steps < 60; steps++) {
    const error = await call('back').then(
      () => null,
      (thrown) => thrown,
    );
    if (error === null) continue;
    t.match(error, { code: 'ACTION_FAILED', message: /no page to go back/ });
    return;
  }
  t.fail('It went back for ever');
});

t.test('go follows redirects, of the server and of the page', async (t) => {
  site.set('/moved', (_, response) => response.writeHead(302, { location: '/a' }).end());
  site.set('/script', '<script>location.replace("/a")</script>');
  site.set('/meta', '<meta http-equiv=refresh content="0;url=/a">');
  for (const path of ['/moved', '/script', '/meta']) {
    t.same(await call('go', site.origin + path), { url: `${site.origin}/a`, title: 'A', status: 200 }, path);
  }
});

t.test('Only addresses of the configured schemes are visited', async (t) => {
  await call('go', `${site.origin}/a`);
  for (const url of ['file:///etc/passwd', 'chrome://settings', 'javascript:alert(1)', 'view-source:http://x/']) {
    t.match(await failure('go', url), { code: 'ACTION_FAILED', error: /may not be visited/ }, url);
  }
  await call('go', 'about:blank');
  t.match(await failure('go', 'not a url'), { code: 'ACTION_FAILED', error: /not a URL/ });
  t.match(await failure('go', 'shop.test/basket'), {
    error: /not a URL, .*\. Did you mean https:\/\/shop\.test\/basket\?$/,
  });
  t.match(await failure('go', 7), { code: 'SCRIPT_ERROR' });
});

t.test('A page that cannot be reached fails with the name that the browser gives it', async (t) => {
  site.set('/cut', (request) => request.socket.destroy());
  t.match(await failure('go', `${site.origin}/cut`), {
    code: 'ACTION_FAILED',
    error: /net::ERR_EMPTY_RESPONSE/,
    details: { url: `${site.origin}/cut` },
  });
  t.match(await call('go', `${site.origin}/a`), { title: 'A' }, 'the next page is reached');
});

t.test('A page that never finishes loading ends in WAIT_TIMEOUT, and can be used', async (t) => {
  const open: ServerResponse[] = [];
  site.set('/stuck.png', (_, response) => void open.push(response));
  site.set('/never', '<title>Never</title><h1>Half</h1><img src=/stuck.png>');
  const error = await callWithin({ ms: 900 }, 'go', `${site.origin}/never`).catch((thrown) => thrown);
  // On a busy machine the title is what the browser calls a page that has not told its own: the address.
  t.match(error, { code: 'WAIT_TIMEOUT', details: { url: `${site.origin}/never`, title: /never$/i } });
  t.equal(await call('text', '{h1}'), 'Half');
  for (const response of open) response.destroy();
});

t.test('A page that hangs in its own script neither holds a call nor the next go', async (t) => {
  await call('go', site.set('/hang', '<title>Hang</title><button onclick="for (;;) {}">Hang</button>'));
  const click = await callWithin({ ms: 700 }, 'act', '{button}Hang', 'click').catch((thrown) => thrown);
  t.match(click, { code: 'WAIT_TIMEOUT' });
  t.match(await callWithin({ ms: 300 }, 'look').catch((thrown) => thrown), { code: 'WAIT_TIMEOUT' });
  t.match(await call('go', `${site.origin}/a`), { title: 'A', status: 200 });
  t.equal(await call('text', '{h1}'), 'Page A');
});

t.test('go answers what stands in its way: open dialogs, and questions whether to leave', async (t) => {
  await call(
    'go',
    site.set('/leave', '<title>Leave</title><input aria-label=N><script>onbeforeunload = () => "stay?"</script>'),
  );
  await call('act', '{input}N', 'input', 'dirty');
  t.match(await call('go', `${site.origin}/a`), { title: 'A' });
  await call('page', 'setTimeout(() => { for (let i = 0; i < 5; i++) confirm("Sure? " + i) }, 0); null');
  await call('wait', '{dialog}OK');
  t.match(await call('go', `${site.origin}/leave`), { title: 'Leave' });
});

t.test('A dialog that a page opens while it loads is the script’s to answer', async (t) => {
  const alert = '<title>Greeting</title><script>alert("Hello")</script><h1>After</h1>';
  t.match(await call('go', site.set('/greeting', alert)), { url: `${site.origin}/greeting`, status: 200 });
  t.match(await look(), { dialog: { kind: 'alert', message: 'Hello' } });
  await call('act', '{dialog}OK', 'click');
  t.equal(await call('text', '{h1}'), 'After');
});

t.test('A page that crashes says so, and go loads the next one', async (t) => {
  await call('go', `${site.origin}/a`);
  await call('go', 'about:blank');
  const crash = await openAgent(t, lease, { allowedSchemes: ['chrome', 'http'] });
  await crash.callWithin({ ms: 3_000 }, 'go', 'chrome://crash').catch(() => undefined);
  t.match(await crash.failure('look'), { code: 'ACTION_FAILED', error: /crashed/ });
  t.match(await crash.call('go', `${site.origin}/a`), { title: 'A' });
  t.equal(await crash.call('text', '{h1}'), 'Page A');
});

t.test('A cancelled call ends before its page has answered', async (t) => {
  const cancel = new AbortController();
  site.set('/slow', () => cancel.abort());
  t.match(await callWithin({ signal: cancel.signal }, 'go', `${site.origin}/slow`).catch((thrown) => thrown), {
    code: 'EVAL_TIMEOUT',
  });
});

t.end();
