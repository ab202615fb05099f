import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';
import { readZip } from '../support/zip.js';
import { readTrace } from '../support/trace.js';

guardLeaks(t);

const FLOW = `// A flow with steps of both kinds.
agent.go(args.base);
agent.act('{input}Name', 'input', 'Ada');
await page.getByRole('button', { name: 'Send' }).click();
await expect(page.locator('#out')).toHaveText('sent Ada');
console.log('from the flow');
page.evaluate(() => { console.warn('from the page'); setTimeout(() => { throw new Error('late') }) });
agent.act('{button}Send', 'click');
`;
const PAGE = `<!doctype html><title>Form</title><label>Name <input id="name"></label>
<button onclick="fetch('/echo?' + document.querySelector('#name').value).then(() => { document.querySelector('#out').textContent = 'sent ' + document.querySelector('#name').value })">Send</button>
<p id="out"></p>`;

const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => server.close());
const { port } = server.address() as AddressInfo;
const base = `http://127.0.0.1:${port}/`;
const service = await startTestService(t, { forward: [port] });
mkdirSync(join(service.home, 'flows', 'shop'), { recursive: true });
writeFileSync(join(service.home, 'flows', 'shop', 'send.js'), FLOW);

t.test('the zip of a job with a trace has one with every step, its picture, its line, console, and network', async (t) => {
  const { id, status, error } = await service.job({ flowFiles: ['shop/send.js'], args: { base }, trace: 'on', maxIterations: 0 });
  t.equal(status, 'completed', JSON.stringify(error));
  const zip = await readZip(`${service.url}/api/sessions/${id}/download`);
  writeFileSync('/tmp/tr/trace.zip', zip.get('trace.zip') as Buffer);
  t.ok(zip.get('trace.zip'));
});
