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
const EVIL = `<img src=x onerror="top.__ran = 1"><script>top.__ran = 1</script>`;
const PAGE = `<!doctype html><title>${EVIL.replaceAll('<', '&lt;')}</title><label>Name <input id="name"></label>
<button onclick="document.querySelector('#out').textContent = 'sent ' + document.querySelector('#name').value">Send</button>
<p id="out"></p><script>console.log(${JSON.stringify(EVIL).replaceAll('</', '<\\/')}); console.error('%c', 'x');
fetch('/evil.html?' + encodeURIComponent(${JSON.stringify(EVIL).replaceAll('</', '<\\/')}));</script>`;

const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => server.close());
const { port } = server.address() as AddressInfo;
const base = `http://127.0.0.1:${port}/`;
const service = await startTestService(t, { forward: [port] });
mkdirSync(join(service.home, 'flows', 'shop'), { recursive: true });
writeFileSync(join(service.home, 'flows', 'shop', 'send.js'), FLOW);
const { id } = await service.job({ flowFiles: ['shop/send.js'], args: { base }, trace: 'on-failure', maxIterations: 0 });
const reader = await openReader(t);

t.test('the dashboard opens a failed job in the viewer, on another origin, with every step', async (t) => {
  const { page, context } = reader;
  await page.goto(`${service.url}/#/sessions/${id}`);
  const opened = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Trace', exact: true }).click();
  const viewer = await opened;
  viewer.on('console', (message) => { if (message.type() === 'error') t.comment(message.text()); });
  await viewer.getByText('agent.act("{button}Nowhere"').first().waitFor();
  await viewer.screenshot({ path: '/tmp/tr/viewer.png' });
  t.not(new URL(viewer.url()).origin, new URL(service.url).origin);
  t.not(new URL(viewer.url()).hostname, new URL(service.url).hostname, 'cookies are of a host');
});
