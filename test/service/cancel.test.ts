import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';
import { evaluate, startModelServer, type Turn } from '../support/model-server.js';
import { startTestService } from '../support/service.js';

guardLeaks(t);

/** After the answer to a DELETE nothing happens any more but what is under way for so long. */
const LAST_EFFECT_MS = 250;

t.test('DELETE stops a job in each of its phases, and nothing happens after it', async (t) => {
  const site = await openSite(t);
  let hits = 0;
  const page = site.set('/', `<title>Busy</title><button onclick="fetch('/hit')">Hit</button>`);
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
    const startedAt = performance.now();
    t.match(await service.call('DELETE', `/api/sessions/${id}`), { status: 200, body: { status: 'stopped' } });
    t.comment(`answered after ${Math.round(performance.now() - startedAt)} ms`);
    await delay(LAST_EFFECT_MS);
    const seen = hits;
    t.match((await service.call('GET', `/api/sessions/${id}`)).body, { status: 'stopped', endReason: 'deleted' });
    return seen;
  };
  const untilHit = async () => {
    const [before, deadline] = [hits, Date.now() + 30_000];
    while (hits < before + 3 && Date.now() < deadline) await delay(10);
    t.ok(hits >= before + 3, 'the job is at work');
  };

  await t.test('while its model is asked', async (t) => {
    const id = await submit('hang');
    const queued = await submit('busy');
    await service.seen(id, 'ModelCallStarted');
    await t.test('and while it is queued', async () => void (await remove(queued)));
    await remove(id);
    t.ok(model.abandoned >= 1, 'the request was given up');
  });
  await t.test('in a script of its model', async (t) => {
    const id = await submit('busy');
    await untilHit();
    const seen = await remove(id);
    await delay(500);
    t.equal(hits, seen, 'no effect after it');
  });
  await t.test('in its flow', async (t) => {
    const id = await submit('a flow', { flowFiles: ['busy.js'], maxIterations: 0 });
    await untilHit();
    const seen = await remove(id);
    await delay(500);
    t.equal(hits, seen, 'no effect after it');
  });
  await t.test('and while its report is made, which ends with nothing left of it', async (t) => {
    writeFileSync(join(service.home, 'flows', 'quick.js'), '() => 6 * 7');
    const id = await submit('quick', { flowFiles: ['quick.js'], maxIterations: 0 });
    await service.seen(id, 'SessionEnded');
    t.match(await service.call('DELETE', `/api/sessions/${id}`), { status: 200 });
    t.match(await service.call('GET', `/api/sessions/${id}`), { status: 404 });
    t.equal(existsSync(join(service.home, 'sessions', id)), false);
    await delay(LAST_EFFECT_MS);
    t.equal(existsSync(join(service.home, 'sessions', id)), false, 'nor does it come back');
  });
  const left = (await service.call('GET', '/api/sessions')).body;
  t.ok(left.every(({ status }: { status: string }) => status === 'stopped'));
  for (const { id } of left) {
    t.match(await service.call('DELETE', `/api/sessions/${id}?purge=true`), { status: 200 });
    t.match(await service.call('GET', `/api/sessions/${id}`), { status: 404 });
  }
});
