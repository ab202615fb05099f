import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { startWithThreads } from '../support/session-threads.js';

guardLeaks(t);

/** A page that asks for something of its own accord, all the time; what it got is in its title. */
const ASKING = `<title>asks</title><script>
window.seen = [];
setInterval(async () => {
  const status = await fetch('/mocked').then((answer) => answer.status, () => 'failed');
  window.seen.push(status);
}, 5)</script>`;

let reached = 0;
const server = createServer((request, response) => {
  if (request.url === '/mocked') reached += 1;
  response.writeHead(200, { 'content-type': 'text/html' }).end(request.url === '/' ? ASKING : 'real');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});
const { port } = server.address() as AddressInfo;
const url = `http://127.0.0.1:${port}/`;
const { service, sessionThreads } = await startWithThreads(t, { forward: [port], evalTimeout: 20 });

const MOCKED = `page.route('**/mocked', {status: 204}); page.goto('${url}'); page.waitForFunction(() => seen.length > 3)`;
const seen = (id: string) => service.run(id, 'agent.page("window.seen.splice(0)")');

t.test('rules stand while Playwright’s thread dies and is started again, without a script that asks', async (t) => {
  const { id } = await service.live();
  t.match(await service.run(id, MOCKED), { status: 200 });
  const { length } = sessionThreads();
  const threads = sessionThreads().filter((worker) => worker.threadId > 0);
  t.equal((await seen(id)).body.every((status: unknown) => status === 204), true);
  // Threads of Playwright belong to a session thread; the page hangs in no script meanwhile.
  t.match(await service.run(id, 'page.evaluate(() => new Promise(() => undefined))'), { body: { code: 'WAIT_TIMEOUT' } });
  await eventually(async () => (await seen(id)).body.includes(204));
  t.match(await service.run(id, 'page.evaluate(() => fetch("/mocked").then((answer) => answer.status))'), { body: 204 });
  t.equal(reached, 0, 'no request has come through');
  t.ok(threads.length <= length);
});

t.test('a page whose rules are lost with its thread is closed, and the next script is told', async (t) => {
  const { id } = await service.live();
  const other = await service.live();
  t.match(await service.run(id, MOCKED), { status: 200 });
  t.match(await service.run(other.id, `page.goto('${url}other'); 1`), { body: 1 });
  await Promise.all(sessionThreads().map((worker) => worker.terminate()));
  t.match(await service.run(id, 'page.url()'), { status: 502, body: { code: 'SESSION_RESTARTED', details: { pageLost: true } } });
  t.match(await service.run(id, 'page.url()'), { body: 'about:blank' });
  t.match(await service.run(other.id, 'page.url()'), { body: `${url}other` }, 'one without rules keeps its page');
  t.match(await service.run(id, MOCKED), { status: 200 });
  t.match(await service.run(id, "page.unroute('**/mocked'); 1"), { body: 1 });
  await Promise.all(sessionThreads().map((worker) => worker.terminate()));
  t.match(await service.run(id, 'page.url()'), { body: url }, 'nor does one whose rules were ended lose it');
});
