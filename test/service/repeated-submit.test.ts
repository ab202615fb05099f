import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';

guardLeaks(t);

t.test('a submission under a key makes one session, however often it comes, also after a restart', async (t) => {
  const home = makeHome(t, { maxSessions: 2 });
  writeFileSync(join(home, 'flows', 'quick.js'), '1');
  const job = { prompt: 'x', flowFiles: ['quick.js'], maxIterations: 0 };
  const first = await startTestService(t, {}, home);
  const under = (key: string) => ({ headers: { 'idempotency-key': key } });
  const answers = await Promise.all([
    first.call('POST', '/api/jobs', job, under('build-17')),
    first.call('POST', '/api/jobs', job, under('build-17')),
    first.call('POST', '/api/sessions/run', { ...job, waitTimeout: 60 }, under('build-17')),
  ]);
  const ids = new Set(answers.map(({ body }) => body.id));
  t.equal(ids.size, 1);
  t.match(answers[2], { status: 200, body: { status: 'completed' } });
  const refused = { status: 400, body: { details: { issues: [{ path: 'Idempotency-Key' }] } } };
  t.match(await first.call('POST', '/api/jobs', { ...job, name: 'other' }, under('build-17')), refused);
  t.match(await first.call('POST', '/api/jobs', job, under('no spaces')), refused);

  const live = () => first.call('POST', '/api/sessions', { name: 'mine', labels: { team: 'shop' } }, under('desk-1'));
  const [one, two] = await Promise.all([live(), live()]);
  t.match([one.status, two.status], [201, 201]);
  t.equal(one.body.id, two.body.id);
  t.equal((await first.call('GET', '/api/sessions')).body.length, 2);
  t.match((await first.call('GET', '/api/sessions?label=team=shop&label=team')).body, [{ id: one.body.id }]);
  await first.stop(0);

  const second = await startTestService(t, {}, home);
  const again = await second.call('POST', '/api/jobs', job, under('build-17'));
  t.ok(ids.has(again.body.id));
  t.equal(again.body.state, 'completed');
  await second.call('DELETE', `/api/sessions/${again.body.id}`);
  t.notOk(ids.has((await second.call('POST', '/api/jobs', job, under('build-17'))).body.id), 'the key is free again');
});

t.test('what a request says in confidence is not to be read in the home of the service', async (t) => {
  const service = await startTestService(t);
  const canary = 'canary-5e2d';
  const { id } = await service.live({
    httpCredentials: { username: 'ada', password: canary },
    headers: { authorization: `Bearer ${canary}` },
    storageState: { cookies: [{ name: 'sid', value: canary, domain: '127.0.0.1', path: '/' }] },
  });
  await service.run(id, '1');
  // By another process: one that closes the journal's file drops its own locks on it.
  const leaks = () => {
    const files = readdirSync(service.home).filter((name) => name.startsWith('troupe.'));
    return spawnSync('grep', ['-lF', canary, ...files], { cwd: service.home, encoding: 'utf8' }).stdout;
  };
  t.equal(leaks(), '');
  await service.call('DELETE', `/api/sessions/${id}`);
  t.equal(leaks(), '');
});
