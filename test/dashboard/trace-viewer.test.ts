import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { openReader } from '../support/reader.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const FLOW = `// A flow with steps of both kinds.
agent.go(args.base);
agent.act('{input}Name', 'input', 'Ada');
page.getByRole('button', { name: 'Send' }).click();
expect(page.locator('#out')).toHaveText('sent Ada');
console.log('from the flow');
page.evaluate("console.warn('from the page')");
agent.act('{button}Nowhere', 'click', null, { timeout: 200 });
`;
/** Whatever a page puts into a trace: markup, scripts, addresses. */
const EVIL = `<img src=x onerror="top.__ran = 1"><script>top.__ran = 1</script><a href="javascript:top.__ran = 1">x</a>`;
const EVIL_JS = JSON.stringify(EVIL).replaceAll('</', '<\\/');
const PAGE = `<!doctype html><title>${EVIL.replaceAll('<', '&lt;')}</title><label>Name <input id="name"></label>
<button onclick="document.querySelector('#out').textContent = 'sent ' + document.querySelector('#name').value">Send</button>
<p id="out"></p><script>console.log(${EVIL_JS}); console.error('%c', 'x');
fetch('/evil.html?' + encodeURIComponent(${EVIL_JS}), { headers: { 'x-evil': encodeURIComponent(${EVIL_JS}) } });
setTimeout(() => { throw new Error(${EVIL_JS}) });</script>`;

const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(request.url ?? '');
  response
    .writeHead(200, { 'content-type': 'text/html', 'x-evil': EVIL, 'access-control-allow-origin': '*' })
    .end(PAGE);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => server.close());
const { port } = server.address() as AddressInfo;
const base = `http://127.0.0.1:${port}/`;
const service = await startTestService(t, { forward: [port] });
mkdirSync(join(service.home, 'flows', 'shop'), { recursive: true });
writeFileSync(join(service.home, 'flows', 'shop', 'send.js'), FLOW);
const { id } = await service.job({
  flowFiles: ['shop/send.js'],
  args: { base },
  trace: 'on-failure',
  har: 'bodies',
  maxIterations: 0,
});
const { page, context } = await openReader(t);
await page.goto(`${service.url}/#/sessions/${id}`);
const opened = context.waitForEvent('page');
await page.getByRole('button', { name: 'Trace', exact: true }).click();
const viewer = await opened;
const breaches: string[] = [];
viewer.on('console', (message) => {
  if (/Content Security Policy/.test(message.text())) breaches.push(message.text());
});

t.test(
  'the dashboard opens a failed job in the viewer, with every step, its picture, source, console and network',
  async (t) => {
    const actions = viewer.getByTestId('actions-tree');
    await actions.getByText('agent.act("{button}Nowhere"').waitFor();
    const rows = await actions.getByRole('treeitem').allTextContents();
    for (const step of ['agent.go(', 'agent.act("{input}Name"', 'page.getByRole(', 'expect(', 'page.evaluate(']) {
      t.ok(
        rows.some((row) => row.includes(step)),
        step,
      );
    }
    await actions.getByText('expect(page.locator').click();
    const picture = viewer.locator('img[alt=Screenshot]');
    await picture.waitFor();
    type Picture = { decode(): Promise<void>; readonly naturalWidth: number };
    t.ok(await picture.evaluate((image: Picture) => image.decode().then(() => image.naturalWidth > 300)));
    await viewer.getByRole('tab', { name: 'Source' }).click();
    await viewer.getByText("toHaveText('sent Ada')").waitFor();
    await viewer.getByRole('tab', { name: 'Console' }).click();
    await viewer.getByText('from the page', { exact: true }).waitFor();
    await viewer.getByText('from the flow', { exact: true }).waitFor();
    await viewer.getByRole('tab', { name: 'Network' }).click();
    await viewer.getByText('evil.html').first().click();
    await viewer.getByRole('tab', { name: 'Response', exact: true }).click();
    await viewer.getByText('Send</button>').first().waitFor();
    await viewer.getByRole('tab', { name: 'Errors' }).click();
    await viewer
      .getByText(/LOCATOR_NOT_FOUND|WAIT_TIMEOUT/)
      .first()
      .waitFor();
    t.same(breaches, [], 'the viewer works within its policy');
  },
);

t.test('what a page put into a trace runs nowhere, and the viewer is another origin, of another host', async (t) => {
  const own = new URL(service.url);
  t.not(new URL(viewer.url()).hostname, own.hostname, 'cookies are of a host');
  t.equal(await viewer.evaluate('window.opener'), null);
  for (const tab of ['Call', 'Console', 'Network', 'Errors', 'Source']) {
    await viewer.getByRole('tab', { name: tab }).click();
    t.equal(await viewer.evaluate('window.__ran'), undefined, tab);
  }
  t.equal(await page.evaluate('window.__ran'), undefined);
});

t.test('a script that ran in the viewer could not act as the dashboard, nor reach anything else', async (t) => {
  const tries = {
    read: `fetch('${service.url}/api/sessions', { credentials: 'include' })`,
    'read blindly': `fetch('${service.url}/api/sessions', { credentials: 'include', mode: 'no-cors' })`,
    post: `fetch('${service.url}/api/sessions', { method: 'POST', body: '{}', credentials: 'include', mode: 'no-cors' })`,
    elsewhere: `fetch('${base}leak')`,
    socket: `new Promise((yes, no) => { const s = new WebSocket('${service.url.replace('http', 'ws')}/api/stream'); s.onopen = yes; s.onerror = no })`,
    script: `new Promise((yes, no) => { const s = document.createElement('script'); s.textContent = 'window.__inline = 1'; document.body.append(s); if (window.__inline) yes(); else no(new Error('blocked')) })`,
  };
  const before = (await service.call('GET', '/api/sessions')).body.length;
  for (const [name, expression] of Object.entries(tries)) {
    await t.rejects(viewer.evaluate(`(async () => { await ${expression} })()`), name);
  }
  t.notOk(asked.includes('/leak'));
  t.equal((await service.call('GET', '/api/sessions')).body.length, before);
  const foreign = await fetch(`${service.url}/api/sessions`, { headers: { Origin: new URL(viewer.url()).origin } });
  t.equal(foreign.status, 403, 'the service refuses what comes from the viewer');
  await foreign.body?.cancel();
});

t.test('a link to the viewer with the address of a foreign trace loads nothing from there', async (t) => {
  const { origin } = new URL(viewer.url());
  await viewer.goto(`${origin}/index.html?trace=${encodeURIComponent(`${base}foreign.zip`)}`);
  await viewer.getByText('Could not load trace').first().waitFor();
  t.notOk(asked.some((path) => path.includes('foreign.zip')));
});
