import { existsSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome } from '../support/service.js';
import { runTroupe } from '../support/service-process.js';
import { postgresMissing } from '../support/test-store.js';
import { readZip } from '../support/zip.js';
import { zipOf } from '../support/zip-of.js';
import { makeNodes, type RunningNode } from './running-nodes.js';

guardLeaks(t);

const missing = await postgresMissing();
const ended = { startedAt: '2026-01-02T03:04:05.000Z', durationMs: 1500, sessionId: 'abcdefghijkl' };
const passed = { ...ended, state: 'completed', failure: null, mayPassAgain: false };
const failed = { ...passed, state: 'failed', failure: { code: 'MATCH_FAILED', message: 'not the same' } };
const lost = { status: 409, body: { code: 'CLAIM_LOST' } };

/** What machines ask nodes. */
const machine = {
  join: (node: RunningNode, build: string, jobs: readonly object[], hash = 'h') =>
    node.call('POST', '/api/batches/join', { build, hash, jobs }),
  claim: (node: RunningNode, id: string, lease = 300) => node.call('POST', `/api/batches/${id}/claim`, { lease }),
  renew: (node: RunningNode, id: string, token: string) =>
    node.call('POST', `/api/batches/${id}/claims/${token}/renew`, {}),
  store: async (node: RunningNode, id: string, token: string, text: string) =>
    node.call('PUT', `/api/batches/${id}/claims/${token}/artifacts`, undefined, {
      body: await zipOf({ 'report.html': text }),
    }),
  finish: (node: RunningNode, id: string, token: string, result: object) =>
    node.call('POST', `/api/batches/${id}/claims/${token}/result`, result),
};

/** The files of the batch's zip at a node, as `PATH: TEXT`. */
async function filesAt(node: RunningNode, id: string): Promise<readonly string[]> {
  const files = await readZip(`${node.url}/api/batches/${id}/download`);
  return [...files].map(([name, content]) => `${name}: ${content}`).sort();
}

/** The same at both nodes. */
async function bothSay(t: Test, [a, b]: readonly [RunningNode, RunningNode], path: string) {
  const [one, other] = await Promise.all([a.call('GET', path), b.call('GET', path)]);
  t.same(one.body, other.body, path);
  return one.body;
}

t.test('Machines join a run at any node, and any node collects it', { skip: missing }, async (t) => {
  const nodes = await makeNodes(t, { leaseFactor: 0.2 });
  const [a, b] = await Promise.all([nodes.start('a'), nodes.start('b')]);
  const both = [a, b] as const;
  const names = ['one', 'two', 'three'];
  const jobs = names.map((name) => ({ name }));
  const joins = await Promise.all([a, b, a, b].map((node) => machine.join(node, '1', jobs)));
  const ids = new Set(joins.map(({ body }) => body.id));
  t.equal(ids.size, 1, 'one batch, wherever they come from');
  t.equal(joins.filter(({ body }) => body.created).length, 1);
  t.match(await machine.join(b, '1', jobs, 'other'), { status: 400, body: { error: /begun with other flows/ } });
  const [id = ''] = ids;
  const claims = await Promise.all([a, b, a, b].map((node) => machine.claim(node, id)));
  const given = claims.flatMap(({ body }) => (body.state === 'claimed' ? [body] : []));
  t.same(given.map(({ job }) => job.name).sort(), [...names].sort(), 'each flow once');
  t.equal(claims.filter(({ body }) => body.state === 'waiting').length, 1);
  const finish = async (node: RunningNode, at: RunningNode, name: string, result: object) => {
    const { token } = given.find(({ job }) => job.name === name);
    t.equal((await machine.store(node, id, token, `${name} at ${node.id}`)).status, 200);
    t.equal((await machine.finish(at, id, token, result)).status, 200);
  };
  await finish(a, b, 'one', passed);
  await finish(b, b, 'two', failed);
  const three = given.find(({ job }) => job.name === 'three');
  t.equal((await machine.store(b, id, three.token, 'an upload before')).status, 200);
  await finish(a, a, 'three', passed);
  const files = ['one/report.html: one at a', 'three/report.html: three at a', 'two/report.html: two at b'];
  for (const node of both) t.same(await filesAt(node, id), files, node.id);
  t.match(await bothSay(t, both, `/api/batches/${id}`), { state: 'failed', counts: { completed: 2, failed: 1 } });
  t.match(await bothSay(t, both, `/api/batches/${id}/junit?links=none`), 'tests="3" failures="1"');
  t.match(await bothSay(t, both, '/api/batches'), { batches: [{ id }] });
  const { flows } = await bothSay(t, both, `/api/batches/${id}/results`);
  const zips: readonly string[] = flows.flatMap(({ attempts }: { attempts: { artifacts: string }[] }) =>
    attempts.map(({ artifacts }) => artifacts),
  );
  t.equal(zips.length, 3);
  for (const path of zips) {
    t.same(await readZip(a.url + path), await readZip(b.url + path), path);
    const heads = await Promise.all(both.map(({ url }) => fetch(url + path, { method: 'HEAD' })));
    const [length, other] = heads.map(({ headers }) => Number(headers.get('content-length')));
    t.ok(length !== undefined && length > 22);
    t.equal(length, other);
  }
  for (const node of both) {
    const unknown = await node.call('GET', `/api/batches/${id}/results/0-1-000000000000.zip`);
    t.match(unknown, { status: 404, body: { code: 'NOT_FOUND' } }, node.id);
  }

  await t.test('artifacts of a node that is gone are missing until it is back', async (t) => {
    await a.process.end('SIGKILL');
    const isMissing = async (when: string) => {
      const [one = '', three = '', two = ''] = await filesAt(b, id);
      t.match(one, /^one\/artifacts-missing\.txt: .* on the node a\.\nThe node a, .*\.\n$/, when);
      t.match(three, /^three\/artifacts-missing\.txt: .*node a/);
      t.equal(two, 'two/report.html: two at b');
      const [zip] = zips;
      t.match(await b.call('GET', `${zip}`), { status: 502, body: { code: 'NODE_LOST', error: /The node a/ } });
    };
    await isMissing('it does not answer');
    const state = async () =>
      (await b.call('GET', '/api/nodes')).body.find((node: { readonly id: string }) => node.id === 'a')?.state;
    await eventually('the node is lost', async () => (await state()) === 'lost', 60_000);
    await isMissing('it is lost');
    t.match(await b.call('GET', `/api/batches/${id}`), { body: { counts: { completed: 2, failed: 1 } } });
    const again = await nodes.start('a');
    t.same(await filesAt(b, id), files);
    t.same(await filesAt(again, id), files);
    t.equal((await b.call('DELETE', `/api/batches/${id}?purge=true`)).status, 200);
    t.match(await again.call('GET', `/api/batches/${id}/results`), { status: 404 });
    const folderOf = ({ home }: RunningNode) => join(home, 'batches', id);
    t.notOk(existsSync(folderOf(b)), 'the node that removes a batch removes its own files');
    t.ok(existsSync(folderOf(again)));
    await again.process.end('SIGTERM');
    utimesSync(folderOf(again), 0, 0);
    await nodes.start('a');
    await eventually('another node has removed its own', () => !existsSync(folderOf(again)));
  });
});

t.test('A flow of a lost machine is free again at every node', { skip: missing }, async (t) => {
  const nodes = await makeNodes(t);
  const [a, b] = await Promise.all([nodes.start('a'), nodes.start('b')]);
  const { id } = (await machine.join(a, '2', [{ name: 'twice', retries: 1 }, { name: 'other' }])).body;
  const first = (await machine.claim(a, id, 1)).body;
  t.match(first, { state: 'claimed', job: { name: 'twice', attempt: 1 } });
  let second: { readonly state: string; readonly token: string } | undefined;
  const other = (await machine.claim(a, id)).body;
  await eventually('the other node gives it away', async () => {
    second = (await machine.claim(b, id)).body;
    return second?.state === 'claimed';
  });
  t.match(second, { state: 'claimed', job: { name: 'twice', attempt: 2 } });
  for (const node of [a, b]) {
    t.match(await machine.renew(node, id, first.token), lost, node.id);
    t.match(await machine.store(node, id, first.token, 'late'), lost);
    t.match(await machine.finish(node, id, first.token, failed), lost);
    t.equal((await machine.renew(node, id, second?.token ?? '')).status, 200);
  }
  t.equal((await machine.finish(a, id, second?.token ?? '', passed)).status, 200);
  t.equal((await machine.finish(b, id, second?.token ?? '', failed)).status, 200, 'the first result counts');
  t.match((await b.call('GET', `/api/batches/${id}/results`)).body.flows, [
    { state: 'completed', attempts: [{ result: null }, { result: { state: 'completed' } }] },
    { state: 'running' },
  ]);
  t.match(await b.call('DELETE', `/api/batches/${id}`), { body: { state: 'stopped', counts: { stopped: 1 } } });
  t.match(await machine.renew(a, id, other.token), lost);
  t.match((await machine.claim(a, id)).body, { state: 'ended' });
});

t.test('Runs of the command line join at different nodes, and each reports all flows', { skip: missing }, async (t) => {
  const nodes = await makeNodes(t);
  const both = await Promise.all([nodes.start('a'), nodes.start('b')]);
  const folder = t.testdir({
    flows: {
      'a.js': "() => agent.go('data:text/html,<h1>a</h1>');",
      'b.js': "() => agent.go('data:text/html,<h1>b</h1>');",
      'c.js': '() => match(1, 2);',
    },
  });
  const report = (id: string) => join(folder, `report-${id}`);
  const runs = await Promise.all(
    both.map(({ id, url }) => {
      const words = ['run', join(folder, 'flows/*.js'), '--join', 'build-1', '--url', url, '--parallel', '1'];
      return runTroupe(makeHome(t), ...words, '--report', report(id));
    }),
  );
  for (const { code, output } of runs) {
    t.equal(code, 1, output);
    t.match(output, /2 passed, 1 failed/);
  }
  const { batches } = await bothSay(t, both, '/api/batches');
  t.match(batches, [{ counts: { total: 3, completed: 2, failed: 1 } }]);
  for (const { id } of both) {
    for (const flow of ['a', 'b', 'c']) t.ok(existsSync(join(report(id), flow, 'report.html')), `${id} ${flow}`);
  }
});
