import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, callWithin, look } = await openAgent(t, lease);
const calm = site.set('/calm', '<title>Calm</title><script>document.title += "!"</script><button>Buy</button>');

t.test('agent.go leaves a page that navigates by itself every millisecond', async (t) => {
  const pages = [
    ['reload', 'setInterval(() => location.reload(), 1)'],
    ['fragment', 'setInterval(() => { location.hash = Math.random() }, 1)'],
    ['href', 'setInterval(() => { location.href = "/href?" + Math.random() }, 1)'],
    ['replace', 'setInterval(() => location.replace("/replace?" + Math.random()), 1)'],
  ] as const;
  for (const [name, script] of pages) {
    const page = site.set(`/${name}`, `<title>Restless</title><script>${script}</script>`);
    await callWithin({ ms: 20_000 }, 'go', page).catch(() => undefined);
    t.match(await callWithin({ ms: 20_000 }, 'go', calm), { url: calm, title: 'Calm!', status: 200 }, name);
    t.match(await look(), { title: 'Calm!', elements: [{ name: 'Buy' }] }, name);
  }
});

t.test('a page without a root element has no elements and no text', async (t) => {
  const bare = site.set('/bare', '<title>Bare</title><script>document.documentElement.remove()</script>');
  await call('go', bare);
  t.match(await look(), { url: bare, elements: [] });
  t.equal(await call('text'), '');
  const xml = site.set('/xml', (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/xml' }).end('<?xml version="1.0"?><a><b>text</b></a>');
  });
  await call('go', xml);
  await call('page', 'document.documentElement.remove()');
  t.match(await look(), { url: xml, elements: [] });
  t.equal(await call('text'), '');
  t.match(await call('go', calm), { url: calm });
});
