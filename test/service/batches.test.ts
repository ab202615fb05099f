import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BatchRecord } from '#troupe/protocol/batches/batch.js';
import { EventReader } from '../support/event-reader.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { hasAllCases } from '../support/sampled.js';
import { makeHome, startTestService, type TestService } from '../support/service.js';
import { readZip } from '../support/zip.js';

guardLeaks(t);

/** As many as a batch may have, or fewer: they cost seconds. */
const MANY = hasAllCases ? 10_000 : 300;
const COUNTS = '({ n = 1 } = {}) => n + 1;';
const FAILS = '// Fails.\n() => {\n  match(1, 2);\n};';

const job = (flow: string, more: object = {}) => ({ prompt: flow, flowFiles: [flow], maxIterations: 0, ...more });

async function ended(service: TestService, id: string): Promise<BatchRecord> {
  const read = async () => BatchRecord.parse((await service.call('GET', `/api/batches/${id}`)).body);
  await eventually('the batch ends', async () => (await read()).endedAt !== null, 60_000);
  return read();
}

t.test('A batch runs its jobs with its own flows, and is collected as one', { timeout: 100_000 }, async (t) => {
  const service = await startTestService(t, { maxSessions: 2 });
  const { status, body } = await service.call('POST', '/api/batches', {
    name: 'nightly',
    labels: { branch: 'main' },
    parallel: 2,
    flows: { 'sum.js': "({ n }) => Flow.run('lib/count', { n })", 'lib/count.js': COUNTS, 'fails.js': FAILS },
    jobs: [
      job('sum.js', { name: 'sum', args: { n: 4 } }),
      job('fails.js', { labels: { owner: 'ada' } }),
      job('sum.js', { name: 'sum' }),
    ],
  });
  t.equal(status, 201, JSON.stringify(body));
  t.match(body, { name: 'nightly', parallel: 2, counts: { total: 3 }, endedAt: null });
  t.equal(body.jobs.length, 3);

  const reader = await EventReader.open(service.url, body.links.events);
  await reader.until(({ ended }) => ended);
  const seen = reader.events.filter(({ type }) => type === 'SessionEnded').map(({ data }) => Object(data).sessionId);
  t.same(seen.sort(), [...body.jobs].sort(), 'the stream tells of every end, and then ends itself');
  const record = await ended(service, body.id);
  t.match(record, { state: 'failed', counts: { completed: 2, failed: 1, queued: 0, running: 0 } });

  const listed = (await service.call('GET', `/api/sessions?batch=${body.id}&state=failed`)).body;
  t.match(listed, [{ batch: body.id, labels: { branch: 'main', owner: 'ada' }, error: { code: 'FLOW_FAILED' } }]);

  const junit = (await service.call('GET', `${record.links.junit}?links=files&folder=out`)).body;
  t.match(junit, /<testsuite name="flows" tests="3" failures="1" errors="0" skipped="0"/);
  t.match(junit, /<testcase name="sum" .*\n.*<testcase name="fails" .*<failure type="MATCH_FAILED"/s);
  t.match(junit, /<testcase name="sum-2" /);
  t.match(junit, /out\/fails\/report\.html/);

  const files = await readZip(service.url + record.links.download);
  t.ok(['sum/report.json', 'sum-2/report.html', 'fails/report.junit.xml'].every((name) => files.has(name)));

  t.match((await service.call('DELETE', `/api/batches/${body.id}`)).body, { id: body.id, state: 'failed' });
  t.equal((await service.call('GET', `/api/batches/${body.id}`)).status, 404);
  t.equal((await service.call('GET', `/api/sessions/${body.jobs[0]}`)).status, 404);
});

t.test('What is wrong with one job refuses them all, and says which', async (t) => {
  const service = await startTestService(t);
  const flows = { 'a.js': COUNTS };
  const refusals: [object, object][] = [
    [
      { flows, jobs: [job('a.js'), job('b.js')] },
      { code: 'FLOW_NOT_FOUND', error: /^jobs\.1: .*b\.js/ },
    ],
    [
      { flows, jobs: [job('a.js'), { prompt: 'x', maxIterations: 0 }] },
      { code: 'INVALID_REQUEST', error: /^jobs\.1: / },
    ],
    [{ flows, jobs: [job('a.js', { video: 'always' })] }, { details: { issues: [{ path: 'jobs.0.video' }] } }],
    [{ flows, jobs: [job('../a.js')] }, { code: 'INVALID_REQUEST' }],
  ];
  for (const [request, error] of refusals) {
    const answer = await service.call('POST', '/api/batches', request);
    t.match(answer, { status: 400, body: error });
  }
  t.same((await service.call('GET', '/api/sessions')).body, []);
});

t.test(`${MANY} jobs are accepted in one call, on disk, cancelled and gone`, { timeout: 100_000 }, async (t) => {
  const home = makeHome(t, { maxSessions: 1 });
  writeFileSync(join(home, 'flows', 'long.js'), '() => agent.wait(60000)');
  const service = await startTestService(t, {}, home);
  const jobs = Array.from({ length: MANY }, (_, index) => job('long.js', { args: { index } }));
  const headers = { 'idempotency-key': 'a-build' };
  const startedAt = performance.now();
  const accepted = await service.call('POST', '/api/batches', { jobs }, { headers });
  t.comment(`${Math.round(performance.now() - startedAt)} ms`);
  t.equal(accepted.status, 201);
  const { id } = accepted.body;
  const again = await service.call('POST', '/api/batches', { jobs }, { headers });
  t.equal(again.body.id, id, 'a repeat under the same key answers the same batch');
  t.equal(new Set(accepted.body.jobs).size, MANY);
  await service.stop(0);

  const next = await startTestService(t, {}, home);
  const record = (await next.call('GET', `/api/batches/${id}`)).body;
  t.ok(record.counts.queued >= MANY - 2, 'what was accepted is there after a restart');
  const cancelled = (await next.call('DELETE', `/api/batches/${id}`)).body;
  t.match(cancelled, { state: 'stopped', counts: { queued: 0, running: 0 } });
  t.match((await next.call('GET', '/api/health')).body, { capacity: { queued: 0 } });
  t.same((await next.call('DELETE', `/api/batches/${id}`)).body, cancelled, 'a repeat changes nothing');
  t.match((await next.call('GET', `/api/batches/${id}`)).body, { state: 'stopped', counts: cancelled.counts });
  t.equal((await next.call('DELETE', `/api/batches/${id}?purge=true`)).status, 200);
  t.same((await next.call('GET', '/api/sessions')).body, []);
});

t.test('Batches are listed by page, name and label, with how many of their jobs were flaky', async (t) => {
  const service = await startTestService(t);
  const flows = { 'a.js': COUNTS };
  const ids: string[] = [];
  for (const [name, branch] of [
    ['nightly', 'main'],
    ['nightly', 'next'],
    ['smoke', 'main'],
  ]) {
    const { body } = await service.call('POST', '/api/batches', {
      name,
      labels: { branch },
      flows,
      jobs: [job('a.js')],
    });
    ids.unshift(body.id);
    await ended(service, body.id);
  }
  const list = async (query: string) => (await service.call('GET', `/api/batches${query}`)).body;
  const first = await list('?limit=2');
  t.same(
    first.batches.map(({ id }: BatchRecord) => id),
    ids.slice(0, 2),
  );
  t.equal(first.next, ids[1]);
  const rest = await list(`?limit=2&before=${first.next}`);
  t.same([rest.batches.map(({ id }: BatchRecord) => id), rest.next], [ids.slice(2), null]);
  t.match(rest.batches, [{ state: 'completed', counts: { completed: 1, flaky: 0 }, name: 'nightly' }]);
  t.same((await list('?name=nightly&label=branch%3Dmain')).batches.length, 1);
  t.same((await list('?label=nope')).batches, []);
  t.match(await list('?before=zzzzzzzzzzzz'), { code: 'INVALID_REQUEST', details: { issues: [{ path: 'before' }] } });
});

t.test('The failed jobs of a batch run again with their arguments and flows; those with secrets do not', async (t) => {
  const service = await startTestService(t);
  // No text: bytes that UTF-8 does not have.
  const picture = Buffer.from('\x89PNG\xff\xfe', 'latin1');
  const flows = {
    'sum.js': '({ n }) => match(n, 1)',
    'lib/count.js': COUNTS,
    'sum.baselines/a.png': picture.toString('base64'),
  };
  const submit = async (jobs: readonly object[]) =>
    (await service.call('POST', '/api/batches', { name: 'nightly', labels: { branch: 'main' }, flows, jobs })).body.id;
  const id = await submit([job('sum.js', { args: { n: 1 } }), job('sum.js', { name: 'two', args: { n: 2 } })]);
  await ended(service, id);
  const again = await service.call('POST', `/api/batches/${id}/rerun`, {});
  t.match(again, { status: 201, body: { name: 'nightly', labels: { branch: 'main' }, counts: { total: 1 } } });
  t.not(again.body.id, id);
  const files = join(service.home, 'batches', again.body.id, 'flows');
  t.same(readFileSync(join(files, 'sum.baselines/a.png')), picture, 'its pictures are the same');
  t.match(await ended(service, again.body.id), { counts: { failed: 1 } });
  const [record] = (await service.call('GET', `/api/sessions?batch=${again.body.id}`)).body;
  t.match(record, { name: 'two', error: { code: 'FLOW_FAILED' } });
  t.match((await service.call('POST', `/api/batches/${id}/rerun`, { jobs: 'all' })).body, { counts: { total: 2 } });
  t.equal((await service.call('GET', `/api/batches/${id}/flows/lib/count.js`)).body, COUNTS);
  t.equal((await service.call('GET', `/api/batches/${id}/flows/lib/none.js`)).status, 404);
  t.not((await service.call('GET', `/api/batches/${id}/flows/..%2f..%2ftroupe.json`)).status, 200);

  const sealed = await submit([job('sum.js', { name: 'login', args: { n: 2 }, secrets: { password: 'hunter2' } })]);
  await ended(service, sealed);
  const refused = await service.call('POST', `/api/batches/${sealed}/rerun`, {});
  t.match(refused, { status: 400, body: { code: 'INVALID_REQUEST', error: /login cannot run again.*secrets/ } });
});
