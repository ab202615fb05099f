import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { EventReader } from '../support/event-reader.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

const PAGE = `<button onclick="count.textContent = Number(count.textContent) + 1">Count</button>
<button onclick="said.textContent = 'enough'">Enough</button><p id=count>0</p><p id=said></p>`;
const COUNTS = `(args) => {
  page.goto(args.url);
  while (page.textContent('#said') !== 'enough') page.getByRole('button', { name: 'Count' }).click();
  return Number(page.textContent('#count'));
}`;

const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});
const { port } = server.address() as AddressInfo;
const url = `http://127.0.0.1:${port}/`;
const service = await startTestService(t, { forward: [port], evalTimeout: 8 });

t.test('page of a job waits while a person has control, and the person uses page too', async (t) => {
  writeFileSync(join(service.home, 'flows', 'pw-counts.js'), COUNTS);
  const job = { prompt: 'count', flowFiles: ['pw-counts.js'], maxIterations: 0, args: { url } };
  const { id } = (await service.call('POST', '/api/jobs', job)).body;
  await service.seen(id, 'StepFinished');
  const { body } = await service.call('POST', `/api/sessions/${id}/control`, { take: true });
  const asPerson = async (js: string) =>
    (await service.call('POST', `/sessions/${id}/proxy`, { js, control: body.control })).body;
  const before = await asPerson("page.textContent('#count')");
  for (let asked = 0; asked < 5; asked += 1) t.equal(await asPerson("page.textContent('#count')"), before);
  await asPerson("page.getByRole('button', { name: 'Enough' }).click()");
  await service.call('POST', `/api/sessions/${id}/control`, { take: false });
  const reader = await EventReader.open(service.url, `/api/sessions/${id}/events`);
  await reader.until(({ ended }) => ended);
  t.match((await service.call('GET', `/api/sessions/${id}`)).body, { state: 'completed', error: null });
});

t.test('a page that hangs ends its own script alone', async (t) => {
  const [hung, neighbour] = [await service.live(), await service.live()];
  t.match(await service.run(neighbour.id, `page.goto('${url}'); page.textContent('#count')`), { body: '0' });
  await service.run(hung.id, `page.goto('${url}'); page.evaluate(() => { setTimeout(() => { while (true); }); })`);
  const [stopped, other] = await Promise.all([
    service.run(hung.id, "page.textContent('#count')"),
    service.run(neighbour.id, "page.getByRole('button', { name: 'Count' }).click(); page.textContent('#count')"),
  ]);
  t.match(stopped, { body: { code: /WAIT_TIMEOUT|EVAL_TIMEOUT/ } });
  t.match(other, { body: '1' });
  t.match(await service.call('DELETE', `/api/sessions/${hung.id}`), { status: 200 });
});

t.test('objects of one session are nothing in another', async (t) => {
  const [one, other] = [await service.live(), await service.live()];
  t.match(await service.run(one.id, `var response = page.goto('${url}'); response.status()`), { body: 200 });
  const forged = `page.title(); var r = Object.create(Object.getPrototypeOf(page), { root: { value: 'Response#1' } }); r.title()`;
  t.match(await service.run(other.id, forged), {
    status: 422,
    body: { code: 'SCRIPT_ERROR', error: /something else/ },
  });
  t.match(await service.run(other.id, 'response.status()'), { status: 422, body: { code: 'SCRIPT_ERROR' } });
});
