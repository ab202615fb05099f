import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService, type TestService } from '../support/service.js';

guardLeaks(t);

const JOB = { prompt: 'x', flowFiles: ['quick.js'], maxIterations: 0 };
/** With what it keeps to itself, almost as large as a request may be. */
const LARGE = {
  ...JOB,
  secrets: Object.fromEntries(Array.from({ length: 95 }, (_, n) => [`s${n}`, 'x'.repeat(10_000)])),
};

async function submitted(service: TestService, job: object): Promise<string> {
  const { status, body } = await service.call('POST', '/api/jobs', job);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}

t.test('jobs that wait: their size, their number, and what becomes of them', async (t) => {
  const home = makeHome(t, { maxSessions: 1, maxQueue: 50 });
  writeFileSync(join(home, 'flows', 'quick.js'), '1');
  const first = await startTestService(t, {}, home);
  const { id: holder } = await first.live();

  await t.test('large jobs wait like others, and each can be ended', async (t) => {
    const body = JSON.stringify(LARGE);
    const ids: string[] = [];
    for (let n = 0; n < 25; n += 1) {
      const { json } = await httpCall(first.url, { method: 'POST', path: '/api/jobs', body });
      ids.push(String(Reflect.get(Object(json), 'id')));
    }
    t.match((await first.call('GET', `/api/sessions/${ids[24]}`)).body, { state: 'queued', queuePosition: 25 });
    for (const id of ids) t.equal((await first.call('DELETE', `/api/sessions/${id}`)).body.status, 'stopped');
    t.equal((await first.call('GET', '/api/health')).body.capacity.queued, 0);
  });

  await t.test('submissions that come at once do not overfill the queue', async (t) => {
    const answers = await Promise.all(Array.from({ length: 70 }, () => first.call('POST', '/api/jobs', JOB)));
    const taken = answers.filter(({ status }) => status === 201);
    t.equal(taken.length, 50);
    t.equal(answers.filter(({ status, body }) => status === 429 && body.code === 'CAPACITY').length, 20);
    const jobs = Array.from({ length: 2 }, () => JOB);
    t.equal((await first.call('POST', '/api/batches', { jobs })).status, 429);
    for (const { body } of taken.slice(3)) await first.call('DELETE', `/api/sessions/${body.id}`);
  });

  await t.test('jobs that a batch holds back count too, and DELETE ends all that wait', async (t) => {
    const jobs = Array.from({ length: 47 }, () => JOB);
    const batch = await first.call('POST', '/api/batches', { jobs, parallel: 1 });
    t.equal(batch.status, 201);
    t.equal((await first.call('POST', '/api/jobs', JOB)).status, 429);
    t.match((await first.call('DELETE', `/api/batches/${batch.body.id}`)).body, {
      state: 'stopped',
      counts: { total: 47, stopped: 47, queued: 0 },
    });
    t.equal((await first.call('GET', '/api/health')).body.capacity.queued, 3);
  });

  await t.test('a job that waits has no browser, and says so', async (t) => {
    const [waits] = (await first.call('GET', '/api/sessions?state=queued')).body;
    t.match(await first.run(waits.id, '1'), { status: 409, body: { code: 'SESSION_BUSY' } });
    t.match(await first.call('POST', `/api/sessions/${waits.id}/control`, { take: true }), {
      body: { code: 'SESSION_BUSY' },
    });
    t.match(await first.call('PUT', `/api/sessions/${waits.id}/files/a.txt`, 'x'), { body: { code: 'SESSION_BUSY' } });
  });

  await t.test('after a restart they wait in their order, can be deleted, and end', async (t) => {
    const queued = async (service: TestService): Promise<string[]> =>
      (await service.call('GET', '/api/sessions?state=queued')).body
        .sort((a: { queuePosition: number }, b: { queuePosition: number }) => a.queuePosition - b.queuePosition)
        .map(({ id }: { id: string }) => id);
    // Held back at the next start by who holds the only place.
    const before = await queued(first);
    await first.stop(0);
    const second = await startTestService(t, {}, home);
    const ends = before.map(async (id) => {
      const done = await second.call('GET', `/api/sessions/${id}`);
      return done.body.id;
    });
    t.same(await Promise.all(ends), before);
    for (const id of before) await second.seen(id, 'SessionEnded');
    const records = await Promise.all(before.map((id) => second.call('GET', `/api/sessions/${id}`)));
    t.same(
      records.map(({ body }) => body.state),
      before.map(() => 'completed'),
    );
    const started = records.map(({ body }) => body.startedAt);
    t.same(started, [...started].sort());
    t.match((await second.call('GET', `/api/sessions/${holder}`)).body, { state: 'stopped' });
    await second.stop(0);
  });
});

t.test('a job whose request cannot be read any more ends when its turn comes, and says why', async (t) => {
  const home = makeHome(t, { maxSessions: 1 });
  writeFileSync(join(home, 'flows', 'quick.js'), '1');
  const first = await startTestService(t, {}, home);
  await first.live();
  const ids = [await submitted(first, JOB), await submitted(first, JOB)];
  await first.stop(0);
  writeFileSync(join(home, 'troupe.key'), `${Buffer.alloc(32, 7).toString('base64url')}\n`);
  const second = await startTestService(t, {}, home);
  for (const id of ids) {
    await second.seen(id, 'SessionEnded');
    t.match((await second.call('GET', `/api/sessions/${id}`)).body, {
      state: 'failed',
      error: { code: 'INTERNAL', error: /cannot be read/ },
    });
  }
  t.equal((await second.job({ flowFiles: ['quick.js'] })).status, 'completed', 'their places are free again');
});
