import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import WebSocket from 'ws';
import { NodeInfo } from '#troupe/protocol/answers.js';
import type { SessionRecord } from '#troupe/protocol/session.js';
import { EventReader } from '../support/event-reader.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { postgresMissing, query } from '../support/test-store.js';
import { makeNodes, type RunningNode } from './running-nodes.js';

guardLeaks(t);

const missing = await postgresMissing();

const recordAt = async (node: RunningNode, id: string): Promise<SessionRecord> =>
  (await node.call('GET', `/api/sessions/${id}`)).body;

t.test('A job that one node accepts runs on another that has a free slot', { skip: missing }, async (t) => {
  const nodes = await makeNodes(t, { flows: { 'quick.js': 'agent.go("data:text/html,<h1>one</h1>"); 1' } });
  const [a, b] = await Promise.all([nodes.start('a', { maxSessions: 1 }), nodes.start('b', { maxSessions: 1 })]);
  const live = await a.live();
  t.equal(live.node, 'a');
  const { body: job } = await a.call('POST', '/api/jobs', { prompt: 'x', flowFiles: ['quick.js'], maxIterations: 0 });
  await eventually('the job has ended', async () => (await recordAt(a, job.id)).status === 'completed');
  const { node } = await recordAt(a, job.id);
  t.equal(node, 'b', 'it ran where there was a slot');
  t.same(await recordAt(b, job.id), await recordAt(a, job.id), 'both nodes answer the same');
  // At once: this node may not know of the last events yet, which the other one wrote.
  const events = await EventReader.open(a.url, `/api/sessions/${job.id}/events`);
  await events.until(({ ended }) => ended);
  t.equal(events.events.at(-1)?.type, 'SessionEnded');
  events.cut();
  const last = String(events.events.at(-1)?.id);
  for (const node of [a, b]) {
    const resumed = await node.call('GET', `/api/sessions/${job.id}/events`, undefined, {
      headers: { 'last-event-id': last },
    });
    t.equal(resumed.status, 204, 'a stream that went to one node is resumed at another without a repeat');
  }
});

t.test('After kill -9 of a node, others end, continue or repeat what it had', { skip: missing }, async (t) => {
  const nodes = await makeNodes(t, {
    flows: {
      'quick.js': 'agent.go("data:text/html,<h1>one</h1>"); 1',
      'slow.js': 'agent.go("data:text/html,<h1>one</h1>"); agent.wait(20000); 1',
    },
  });
  const a = await nodes.start('a', { maxSessions: 3 });
  const flow = { prompt: 'x', flowFiles: ['slow.js'], maxIterations: 0 };
  const live = await a.live();
  const [cut, again] = [
    await a.call('POST', '/api/jobs', flow),
    await a.call('POST', '/api/jobs', { ...flow, retries: 1 }),
  ];
  // It has begun, so it is not run again.
  for (const { body } of [cut, again]) await a.seen(body.id, 'StepFinished');
  const quick = { prompt: 'x', flowFiles: ['quick.js'], maxIterations: 0 };
  const queued = (await a.call('POST', '/api/jobs', quick)).body;
  const b = await nodes.start('b', { maxSessions: 1 });
  const own = await b.live();
  await a.process.end('SIGKILL');
  await eventually('the live session has ended', async () => (await recordAt(b, live.id)).status === 'failed');
  t.match((await recordAt(b, live.id)).error, { code: 'NODE_LOST' });
  t.match(await b.run(live.id, '1 + 1'), { status: 502, body: { code: 'NODE_LOST' } });
  await eventually('the flow was cut', async () => (await recordAt(b, cut.body.id)).status === 'failed');
  t.match((await recordAt(b, cut.body.id)).error, { code: 'INTERRUPTED' }, 'a flow that has begun is not run again');
  t.match(await b.run(own.id, '1 + 1'), { status: 200, body: 2 }, 'the other node goes on');
  await b.call('DELETE', `/api/sessions/${own.id}`);
  await eventually('the queued job has run', async () => (await recordAt(b, queued.id)).status === 'completed');
  // Not by its record: that says `running` just before the start is in the database.
  await b.seen(again.body.id, 'SessionStarted', 2);
  t.match(await recordAt(b, again.body.id), { attempt: 2, node: 'b' });
  const { rows } = await query(
    nodes.database,
    "select session_id, count(*)::int as starts from events where type = 'SessionStarted' group by 1 order by 2",
  );
  const starts = new Map(rows.map((row) => [row.session_id, row.starts]));
  t.equal(starts.get(queued.id), 1, 'none is doubled');
  t.equal(starts.get(again.body.id), 2);
  // Its browsers are still there: a start on its home removes them.
  t.match(await b.call('POST', '/api/nodes/a/drain'), { status: 400, body: { code: 'INVALID_REQUEST' } });
  t.same((await b.call('DELETE', '/api/nodes/a')).body, { id: 'a', removed: true });
  const back = await nodes.start('a');
  t.match((await recordAt(back, live.id)).error, { code: 'NODE_LOST' });
});

t.test('Any node answers about a session of another', { skip: missing }, async (t) => {
  const nodes = await makeNodes(t);
  const [a, b] = await Promise.all([nodes.start('a'), nodes.start('b', { server: 'node' })]);
  const { id } = await a.live();
  t.match(await b.run(id, '1 + 1'), { status: 200, body: 2 });
  t.match(await b.run(id, 'let kept = 1; kept'), { body: 1 });
  t.match(await a.run(id, 'kept + 1'), { body: 2 }, 'it is the same session');
  t.match(await b.run(id, 'agent.nothing()'), { status: 422, body: { code: 'SCRIPT_ERROR' } });
  const bytes = randomBytes(3_000_000);
  const put = await fetch(`${b.url}/api/sessions/${id}/files/big.txt`, { method: 'PUT', body: bytes });
  t.equal(put.status, 201, await put.text());
  const got = await fetch(`${b.url}/api/sessions/${id}/files/big.txt`);
  t.equal(Buffer.from(await got.arrayBuffer()).equals(bytes), true, 'a file, there and back');
  const events = await EventReader.open(b.url, `/api/sessions/${id}/events`);
  const all = await EventReader.open(b.url, '/api/events?after=0');
  const socket = new WebSocket(`${b.url.replace('http', 'ws')}/sessions/${id}/cdp`);
  const answer = await new Promise((resolve, reject) => {
    socket.on('open', () => socket.send(JSON.stringify({ id: 1, method: 'Browser.getVersion' })));
    socket.on('message', (data) => resolve(JSON.parse(data.toString())));
    socket.on('error', reject);
  });
  t.match(answer, { id: 1, result: { product: /Chrome/ } });
  socket.terminate();
  t.match(await b.call('DELETE', `/api/sessions/${id}`), { status: 200, body: { status: 'stopped', deleted: true } });
  for (const reader of [events, all]) {
    await reader.until((seen) => seen.events.some(({ type }) => type === 'SessionEnded'));
    const seqs = reader.events.map(({ id }) => Number(id));
    t.same(
      seqs,
      [...new Set(seqs)].sort((x, y) => x - y),
      'in order, none twice',
    );
    reader.cut();
  }
  t.match(await a.call('GET', `/api/sessions/${id}`), { body: { status: 'stopped', node: 'a' } });
  const zip = await fetch(`${b.url}/api/sessions/${id}/download`);
  t.equal(zip.headers.get('content-type'), 'application/zip', 'the zip of a session that ended elsewhere');
  t.ok((await zip.arrayBuffer()).byteLength > 1_000);
  const files = async (node: RunningNode) => (await node.call('GET', `/api/sessions/${id}/artifacts`)).body;
  t.same(await files(b), await files(a), 'its files are those of its node');
  const forged = await b.call('GET', '/api/sessions', undefined, { headers: { 'x-troupe-forward': 'v1.e30.x' } });
  t.match(forged, { status: 401, body: { code: 'UNAUTHORIZED' } }, 'a header that no node has sealed');
});

t.test(
  'Jobs of a batch run on any node with the flows that it brings, and are cancelled on all',
  { skip: missing },
  async (t) => {
    const nodes = await makeNodes(t);
    const [a, b] = await Promise.all([nodes.start('a', { maxSessions: 1 }), nodes.start('b', { maxSessions: 1 })]);
    const flows = { 'own.js': 'agent.go("data:text/html,<h1>one</h1>"); agent.wait(60000); 1' };
    const job = { prompt: 'x', flowFiles: ['own.js'], maxIterations: 0 };
    const { body: batch } = await a.call('POST', '/api/batches', { flows, jobs: [job, job, job] });
    const records = async (): Promise<readonly SessionRecord[]> =>
      (await b.call('GET', `/api/sessions?batch=${batch.id}`)).body;
    await eventually(
      'two run',
      async () => (await records()).filter(({ status }) => status === 'running').length === 2,
    );
    t.same(new Set((await records()).flatMap(({ node }) => node ?? [])), new Set(['a', 'b']), 'one on each node');
    for (const node of [a, b]) {
      const demand = async () => (await node.call('GET', '/api/health')).body.capacity.demand;
      await eventually('each node counts what runs and waits on both', async () => (await demand()) === 3);
    }
    for (const { id, status } of await records()) if (status === 'running') await b.seen(id, 'StepFinished');
    const cancelled = await a.call('DELETE', `/api/batches/${batch.id}`);
    t.match(cancelled.body, { state: 'stopped', counts: { total: 3, stopped: 3 } });
  },
);

t.test('Nodes are listed, drained, removed, and refused', { skip: missing }, async (t) => {
  const nodes = await makeNodes(t, { flows: { 'quick.js': '1' } });
  const [a, b] = await Promise.all([nodes.start('a'), nodes.start('b')]);
  const list = async (node: RunningNode) => NodeInfo.array().parse((await node.call('GET', '/api/nodes')).body);
  t.match(await list(a), [
    { id: 'a', url: a.url, state: 'up', places: 2, running: 0 },
    { id: 'b', url: b.url, state: 'up', places: 2, running: 0 },
  ]);
  t.match(await a.call('DELETE', '/api/nodes/b'), { status: 400, body: { code: 'INVALID_REQUEST' } });
  t.match(await a.call('POST', '/api/nodes/none/drain'), { status: 404 });
  const live = await b.live();
  const drained = await a.call('POST', '/api/nodes/b/drain');
  t.match(drained, { status: 200, body: { id: 'b', state: 'draining' } });
  NodeInfo.parse(drained.body);
  const isStopping = async () => (await b.call('GET', '/api/health')).body.status === 'stopping';
  await eventually('b knows of it', isStopping);
  t.match(await b.call('POST', '/api/sessions', {}), { status: 503, body: { code: 'UNAVAILABLE' } });
  t.match(await a.run(live.id, '2'), { body: 2 }, 'its session goes on');
  await a.call('DELETE', `/api/sessions/${live.id}`);
  await eventually('b has left', async () => (await list(a)).length === 1);
  await eventually('its process has ended', () => b.process.child.exitCode === 0);
  const other = await nodes.spawn('c', { node: { id: 'a', url: a.url } });
  await t.rejects(other.listening, { message: /running on another home/ });
  await other.end('SIGKILL');
  const alone = await nodes.spawn('d', { node: undefined });
  await t.rejects(alone.listening, { message: /shared by nodes/ });
  await alone.end('SIGKILL');
});

t.test(
  'A job brings its flows and requests to the node that runs it, and what it writes reaches all',
  { skip: missing },
  async (t) => {
    const nodes = await makeNodes(t, {
      flows: { 'write.js': `File.write('written/by-job.txt', Flow.run('own/inner')); 1` },
    });
    const [a, b] = await Promise.all([nodes.start('a', { maxSessions: 1 }), nodes.start('b', { maxSessions: 1 })]);
    mkdirSync(join(a.home, 'flows', 'own'));
    writeFileSync(join(a.home, 'flows', 'own', 'inner.js'), '() => "as a had it"');
    const live = await a.live();
    const { body: job } = await a.call('POST', '/api/jobs', { prompt: 'x', flowFiles: ['write.js'], maxIterations: 0 });
    await eventually('the job has ended', async () => (await recordAt(a, job.id)).endedAt !== null);
    t.match(await recordAt(a, job.id), { status: 'completed', node: 'b' }, 'with a flow that only the other node has');
    for (const { home } of [a, b]) {
      const file = join(home, 'flows', 'written', 'by-job.txt');
      await eventually('the file is there', () => existsSync(file));
      t.equal(readFileSync(file, 'utf8'), 'as a had it');
    }
    t.equal(existsSync(join(b.home, 'flows', 'own')), false, 'what it brought is its own');
    t.equal(existsSync(join(b.home, 'batches', job.id)), false, 'and is removed with it');
    const saved = await b.call('PUT', '/api/flows/own/inner.js', '() => "changed at b"');
    t.equal(saved.status, 200);
    const changed = () => readFileSync(join(a.home, 'flows', 'own', 'inner.js'), 'utf8') === '() => "changed at b"';
    await eventually('a flow that is edited at one node is changed at all', changed);
    await a.call('DELETE', `/api/sessions/${live.id}`);
    const { rows } = await query(
      nodes.database,
      "select kind, count(*)::int as count from kept where kind in ('job-files', 'file-set') group by 1",
    );
    t.same(rows, [{ kind: 'file-set', count: 1 }], 'no job refers to the set any more');
  },
);
