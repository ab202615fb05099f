import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { postgresMissing } from '../support/test-store.js';
import { readZip } from '../support/zip.js';
import { zipOf } from '../support/zip-of.js';
import { makeNodes, type RunningNode } from './running-nodes.js';

guardLeaks(t);

const missing = await postgresMissing();
const ended = { startedAt: '2026-01-02T03:04:05.000Z', durationMs: 1500, sessionId: 'abcdefghijkl' };
const passed = { ...ended, state: 'completed', failure: null, mayPassAgain: false };
const failed = { ...passed, state: 'failed', failure: { code: 'MATCH_FAILED', message: 'not the same' } };

t.test('Machines join a run at any node, and any node collects it and runs it again', { skip: missing }, async (t) => {
  const nodes = await makeNodes(t, { leaseFactor: 0.2 });
  const [a, b] = await Promise.all([nodes.start('a'), nodes.start('b')]);
  const names = ['one', 'two', 'three'];
  const jobs = names.map((name) => ({
    name,
    request: { prompt: name, name, flowFiles: [`${name}.js`], maxIterations: 0 },
  }));
  const request = {
    build: '1',
    hash: 'h',
    jobs,
    flows: Object.fromEntries(names.map((name) => [`${name}.js`, '() => 1'])),
  };
  const joins = await Promise.all([a, b, a, b].map((node) => node.call('POST', '/api/batches/join', request)));
  const ids = new Set(joins.map(({ body }) => body.id));
  t.equal(ids.size, 1, 'one batch, wherever they come from');
  t.equal(joins.filter(({ body }) => body.created).length, 1);
  const [id = ''] = ids;
  const claims = await Promise.all(
    [a, b, a, b].map((node) => node.call('POST', `/api/batches/${id}/claim`, { lease: 300 })),
  );
  const given = claims.flatMap(({ body }) => (body.state === 'claimed' ? [body] : []));
  t.same(given.map(({ job }) => job.name).sort(), [...names].sort(), 'each flow once');
  const finish = async (node: RunningNode, name: string, result: object) => {
    const { token } = given.find(({ job }) => job.name === name);
    const path = `/api/batches/${id}/claims/${token}`;
    const body = await zipOf({ 'report.html': `${name} at ${node.id}` });
    t.equal((await node.call('PUT', `${path}/artifacts`, undefined, { body })).status, 200);
    t.equal((await node.call('POST', `${path}/result`, result)).status, 200);
  };
  await finish(a, 'one', passed);
  await finish(b, 'two', failed);
  await finish(a, 'three', passed);
  for (const node of [a, b]) {
    t.match((await node.call('GET', `/api/batches/${id}`)).body, {
      state: 'failed',
      counts: { completed: 2, failed: 1 },
    });
    t.match((await node.call('GET', `/api/batches/${id}/junit`)).body, 'tests="3" failures="1"');
    const files = await readZip(`${node.url}/api/batches/${id}/download`);
    const texts = [...files].map(([name, content]) => `${name}: ${content}`).sort();
    t.same(texts, ['one/report.html: one at a', 'three/report.html: three at a', 'two/report.html: two at b']);
    t.equal((await node.call('GET', `/api/batches/${id}/flows/one.js`)).body, '() => 1');
    const again = await node.call('POST', `/api/batches/${id}/rerun`, {});
    t.match(again, { status: 201, body: { counts: { total: 1 } } }, node.id);
    const [session] = again.body.jobs;
    const state = async () => (await node.call('GET', `/api/sessions/${session}`)).body.status;
    await eventually('the failed flow runs on a node', async () => (await state()) === 'completed', 60_000);
  }
  a.process.child.kill('SIGKILL');
  const isLost = async () =>
    (await b.call('GET', '/api/nodes')).body.some(
      (node: { id: string; state: string }) => node.id === 'a' && node.state === 'lost',
    );
  await eventually('the node is lost', isLost, 60_000);
  const files = await readZip(`${b.url}/api/batches/${id}/download`);
  t.equal(String(files.get('two/report.html')), 'two at b');
  t.match(String(files.get('one/artifacts-missing.txt')), /node a/, 'what is not there is said in its place');
});

t.test('A batch that one node accepted runs again from any other', { skip: missing }, async (t) => {
  const nodes = await makeNodes(t);
  const [a, b] = await Promise.all([nodes.start('a'), nodes.start('b')]);
  const jobs = [{ prompt: 'x', flowFiles: ['own.js'], maxIterations: 0 }];
  const { id } = (await a.call('POST', '/api/batches', { jobs, flows: { 'own.js': '() => 1' } })).body;
  const isOver = async () => (await b.call('GET', `/api/batches/${id}`)).body.endedAt !== null;
  await eventually('the batch ends', isOver, 60_000);
  t.match(await b.call('POST', `/api/batches/${id}/rerun`, { jobs: 'all' }), {
    status: 201,
    body: { counts: { total: 1 } },
  });
});
