import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { inContainers, openSite } from '../support/agent-fixture.js';
import { runningBrowsers } from '../support/browsers.js';
import { containerOf } from '../support/docker.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { evaluate, startModelServer, type Turn } from '../support/model-server.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

/** A press asks the site while it is handled, so that of a script that was stopped one press at most is under way. */
const PAGE = `<title>Busy</title><button onclick="const asked = new XMLHttpRequest(); asked.open('GET', '/hit', false); asked.send()">Hit</button>`;

const browserIsGone = (id: string) =>
  eventually('its browser is gone', async () =>
    inContainers ? (await containerOf(id)) === '' : !runningBrowsers().includes(id),
  );

t.test('DELETE stops a job in each of its phases, and nothing happens after it', async (t) => {
  const site = await openSite(t);
  let hits = 0;
  let purged = '';
  const page = site.set('/', PAGE);
  site.set('/hit', (_, response) => {
    hits += 1;
    response.end();
  });
  const turns = new Map<string, Turn>([
    ['hang', { kind: 'hang' }],
    ['busy', evaluate(`agent.go('${page}'); while (true) agent.act('{button}Hit', 'click')`)],
  ]);
  const model = await startModelServer(t, ({ body }) => {
    const task = body.messages[1]?.content ?? '';
    return [...turns].find(([word]) => task.includes(word))?.[1] ?? { kind: 'status', status: 400 };
  });
  const service = await startTestService(t, {
    models: ['scripted/m'],
    providers: { scripted: { baseURL: model.baseURL } },
    maxSessions: 1,
    warmSessions: 0,
    forward: [Number(new URL(site.origin).port)],
  });
  writeFileSync(
    join(service.home, 'flows', 'busy.js'),
    `agent.go('${page}'); while (true) agent.act('{button}Hit', 'click')`,
  );
  const submit = async (prompt: string, more: object = {}): Promise<string> =>
    (await service.call('POST', '/api/jobs', { prompt, ...more })).body.id;
  const remove = async (id: string) => {
    t.match(await service.call('DELETE', `/api/sessions/${id}`), { status: 200, body: { status: 'stopped' } });
    const seen = hits;
    t.match((await service.call('GET', `/api/sessions/${id}`)).body, { status: 'stopped', endReason: 'deleted' });
    await browserIsGone(id);
    t.ok(hits <= seen + 1, `no effect after it but the one that was under way: ${hits - seen}`);
  };
  const untilHit = async () => {
    const before = hits;
    await eventually('the job is at work', () => hits >= before + 3, 60_000);
  };

  await t.test('while its model is asked', async (t) => {
    const id = await submit('hang');
    const queued = await submit('busy');
    await eventually('the model is asked', () => model.requests.length === 1);
    await t.test('and while it is queued', async () => void (await remove(queued)));
    await remove(id);
    await eventually('the request to the model is given up', () => model.abandoned >= 1);
  });
  await t.test('in a script of its model', async () => {
    const id = await submit('busy');
    await untilHit();
    await remove(id);
  });
  await t.test('in its flow', async () => {
    const id = await submit('a flow', { flowFiles: ['busy.js'], maxIterations: 0 });
    await untilHit();
    await remove(id);
  });
  await t.test('and while its report is made, which ends with nothing left of it', async (t) => {
    writeFileSync(join(service.home, 'flows', 'quick.js'), '() => 6 * 7');
    const id = await submit('quick', { flowFiles: ['quick.js'], maxIterations: 0 });
    await service.seen(id, 'SessionEnded');
    t.match(await service.call('DELETE', `/api/sessions/${id}`), { status: 200 });
    t.match(await service.call('GET', `/api/sessions/${id}`), { status: 404 });
    t.equal(existsSync(join(service.home, 'sessions', id)), false);
    purged = id;
  });
  const left = (await service.call('GET', '/api/sessions')).body;
  t.ok(left.every(({ status }: { status: string }) => status === 'stopped'));
  for (const { id } of left) {
    t.match(await service.call('DELETE', `/api/sessions/${id}?purge=true`), { status: 200 });
    t.match(await service.call('GET', `/api/sessions/${id}`), { status: 404 });
  }
  // Whoever still writes has been waited for then.
  await service.stop();
  t.equal(existsSync(join(service.home, 'sessions', purged)), false, 'nor does the folder come back');
});
