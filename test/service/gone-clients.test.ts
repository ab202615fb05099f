import { type ClientRequest, request } from 'node:http';
import t from 'tap';
import { deferred } from '../script/open-sandbox.js';
import { openSite } from '../support/agent-fixture.js';
import { EventReader } from '../support/event-reader.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

t.test('a client that leaves ends its own work alone, and is no fault of the service', async (t) => {
  const site = await openSite(t);
  const { promise: released, resolve: release } = deferred();
  site.set('/held', (_, response) => void released.then(() => response.end('<title>Here</title>')));
  const service = await startTestService(t, { maxSessions: 2, forward: [Number(new URL(site.origin).port)] });
  const { id } = await service.live();
  await service.run(id, 'let ran = []');
  const reader = await EventReader.open(service.url, `/api/sessions/${id}/events`);

  /** Sends what is given of the body and waits for nothing. */
  const send = async (method: string, path: string, body: string, bytes = body.length): Promise<ClientRequest> => {
    const sent = request(service.url + path, { method, agent: false, headers: { 'content-length': bytes } });
    sent.on('error', () => undefined);
    await new Promise<void>((resolve) => void sent.write(body, () => resolve()));
    if (bytes === body.length) sent.end();
    return sent;
  };
  const script = (js: string) => send('POST', `/sessions/${id}/proxy`, JSON.stringify({ js }));
  const running = (wanted: number) =>
    eventually(
      `${wanted} sessions run`,
      async () => (await service.call('GET', '/api/health')).body.capacity.running === wanted,
    );

  const clients = [await script(`ran.push("running"); agent.go("${site.origin}/held"); ran.push("to its end")`)];
  await reader.until(({ events }) => events.filter(({ type }) => type === 'ScriptStarted').length === 2);
  clients.push(await script('ran.push("waiting")'));
  clients.push(await send('PUT', `/api/sessions/${id}/files/half.txt`, 'half', 8));
  clients.push(await send('POST', '/api/sessions', '{}'));
  await running(2);
  for (const client of clients) client.destroy();
  await running(1);
  release();

  t.match(await service.run(id, 'ran'), { body: ['running', 'to its end'] }, 'what waited was dropped');
  t.same((await service.call('GET', `/api/sessions/${id}/files`)).body, []);
  t.equal((await service.call('GET', '/api/sessions')).body.length, 1, 'the session that nobody waited for is gone');
  reader.cut();
  t.same(
    service.logged.filter((line) => /^[A-Z]+ \//.test(line)),
    [],
  );
});
