import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Journal } from '#troupe/journal/journal.js';
import { SessionId } from '#troupe/protocol/session.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService, type TestService } from '../support/service.js';
import { homePlace } from '../support/test-store.js';

guardLeaks(t);

const LONG = { prompt: 'x', maxIterations: 0, flowFiles: ['long.js'] };

/** What a repeat is answered, and what a client then still finds. */
async function outcome({ call }: TestService, path: string) {
  const { status, body } = await call('DELETE', path);
  const { status: found } = await call('GET', path.replace(/\?.*/, ''));
  return { status, deleted: body.deleted ?? body.state, found };
}

/** Lets a minute pass, as far as the records in the journal of a stopped service tell. */
async function age(home: string, ids: readonly string[]): Promise<void> {
  const journal = await Journal.open(homePlace(home));
  for (const id of ids) {
    const { record } = Object(await journal.get(SessionId.parse(id)));
    const endedAt = new Date(Date.parse(record.endedAt) - 60_000).toISOString();
    await journal.write({ records: [{ record: { ...record, endedAt }, lease: null }] });
  }
  await journal.close();
}

t.test('A repeated DELETE removes nothing; a later one does, and so does purge at any time', async (t) => {
  const home = makeHome(t, { maxSessions: 4 });
  writeFileSync(join(home, 'flows', 'long.js'), '() => agent.wait(60000)');
  writeFileSync(join(home, 'flows', 'quick.js'), '() => 1');
  const service = await startTestService(t, {}, home);
  const [live, purged] = await Promise.all([service.live(), service.live()]);
  const done = await service.job({ flowFiles: ['quick.js'] });
  const { body: waiting } = await service.call('POST', '/api/jobs', LONG);
  const { body: batch } = await service.call('POST', '/api/batches', { jobs: [LONG, LONG] });
  const { body: other } = await service.call('POST', '/api/batches', { jobs: [LONG] });
  const at = (id: string) => `/api/sessions/${id}`;

  const stopped = { status: 200, deleted: true, found: 200 };
  const removed = { status: 200, deleted: true, found: 404 };
  t.same(await outcome(service, at(live.id)), stopped);
  const record = (await service.call('GET', at(live.id))).body;
  const [one, two] = await Promise.all([outcome(service, at(live.id)), outcome(service, at(live.id))]);
  t.same([one, two], [stopped, stopped], 'repeats change nothing');
  t.same((await service.call('GET', at(live.id))).body, record);
  t.same(await outcome(service, at(waiting.id)), stopped);
  t.same(await outcome(service, at(waiting.id)), stopped, 'nor does that of a job');
  t.same(await outcome(service, `${at(purged.id)}?purge=true`), removed, 'a session that runs is stopped and removed');
  t.notOk(existsSync(join(home, 'sessions', purged.id)), 'with its artifacts');
  t.same(await outcome(service, at(purged.id)), { status: 404, deleted: undefined, found: 404 });
  t.same(await outcome(service, at(done.id)), removed, 'one that ended by itself was stopped by no DELETE');
  t.match(await service.call('DELETE', `${at(live.id)}?purge=perhaps`), { status: 400 });
  t.match(await service.call('DELETE', `${at(live.id)}?force=true`), { status: 400 });

  const cancelled = { status: 200, deleted: 'stopped', found: 200 };
  t.same(await outcome(service, `/api/batches/${batch.id}`), cancelled);
  t.same(await outcome(service, `/api/batches/${batch.id}`), cancelled, 'nor does that of a batch');
  t.same(await outcome(service, at(batch.jobs[0])), stopped, 'nor one of a job that its batch took along');
  t.same(await outcome(service, `/api/batches/${other.id}?purge=true`), { ...cancelled, found: 404 });
  t.equal((await service.call('GET', at(other.jobs[0]))).status, 404);
  await service.stop(0);

  const next = await startTestService(t, {}, home);
  t.same(await outcome(next, at(live.id)), stopped, 'the minute is counted over a restart');
  t.same(await outcome(next, `/api/batches/${batch.id}`), cancelled);
  await next.stop(0);

  await age(home, [live.id, waiting.id, ...batch.jobs]);
  const later = await startTestService(t, {}, home);
  t.same(await outcome(later, at(live.id)), removed);
  t.same(await outcome(later, at(waiting.id)), removed);
  t.same(await outcome(later, `/api/batches/${batch.id}`), { ...cancelled, found: 404 });
  t.same((await later.call('GET', '/api/sessions')).body, []);
});

t.test('The step before a DELETE is in the transcript though its picture takes longer', async (t) => {
  const service = await startTestService(t);
  const { id } = await service.live();
  await service.run(id, "agent.go('data:text/html,<title>Busy</title><p id=p>1</p>')");
  const busy = 'setTimeout(() => { for (const end = Date.now() + 1500; Date.now() < end; ); }, 0)';
  t.equal((await service.run(id, `agent.page(${JSON.stringify(busy)}); agent.go('nothing:')`)).status, 422);
  await service.call('DELETE', `/api/sessions/${id}`);
  const { body } = await service.call('GET', `/api/sessions/${id}/events`);
  t.match(body, /"type":"StepFinished".*agent\.go\(.{0,3}nothing:/);
});
