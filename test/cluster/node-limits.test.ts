import t from 'tap';
import { EventReader } from '../support/event-reader.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { client } from '../support/service.js';
import { postgresMissing, query } from '../support/test-store.js';
import { makeNodes } from './running-nodes.js';

guardLeaks(t);

const missing = await postgresMissing();

t.test('A node that is asked to stop waits for drainTimeout and no longer', { skip: missing }, async (t) => {
  const nodes = await makeNodes(t);
  const node = await nodes.start('a', { drainTimeout: 6 });
  const { id } = await node.live();
  const events = await EventReader.open(node.url, `/api/sessions/${id}/events`);
  node.process.child.kill('SIGTERM');
  await events.until(({ events }) => events.some(({ type }) => type === 'NodeDraining'));
  t.match(await node.run(id, '1 + 1'), { body: 2 }, 'its sessions go on meanwhile');
  await eventually('its process has ended', () => node.process.child.exitCode === 0);
  events.cut();
  const { rows } = await query(nodes.database, 'select type, data from events order by seq desc limit 1');
  t.match([rows[0].type, JSON.parse(rows[0].data)], ['SessionEnded', { status: 'stopped', endReason: 'shutdown' }]);
});

t.test('Limits of a token hold over all nodes', { skip: missing }, async (t) => {
  const nodes = await makeNodes(t, {
    flows: { 'slow.js': 'agent.go("data:text/html,<h1>one</h1>"); agent.wait(60000)' },
  });
  // The time that a browser may take to start, on a busy machine too, and that a session waits for the limit.
  const settings = { createTimeout: 15 };
  const [a, b] = await Promise.all([nodes.start('a', settings), nodes.start('b', settings)]);
  const token = async (request: object, as = '') => {
    const headers = as === '' ? {} : { authorization: `Bearer ${as}` };
    return (await client(a.url, headers).call('POST', '/api/tokens', request)).body.token;
  };
  const admin = await token({ name: 'admin', role: 'admin' });
  const limits = { running: 1, queued: 2, perMinute: 5 };
  const authorization = `Bearer ${await token({ name: 'limited', role: 'run', limits }, admin)}`;
  const [atA, atB] = [a, b].map(({ url }) => client(url, { authorization }));
  if (atA === undefined || atB === undefined) throw new Error('No clients');
  const stranger = client(b.url, { authorization: 'Bearer unknown' });
  const statusOf = async ({ call }: ReturnType<typeof client>) => (await call('GET', '/api/sessions')).status;
  // While b knows of no token at all, it is open; and it may know of the first one only.
  await eventually(
    'b knows both tokens',
    async () => (await statusOf(stranger)) === 401 && (await statusOf(atB)) === 200,
  );
  const job = { prompt: 'x', flowFiles: ['slow.js'], maxIterations: 0 };
  t.equal((await atA.call('POST', '/api/jobs', job)).status, 201);
  const running = async () => (await atA.call('GET', '/api/sessions?state=running')).body.length;
  await eventually('the first runs', async () => (await running()) === 1);
  t.match(await atB.call('POST', '/api/sessions', {}), { status: 429, body: { code: 'CAPACITY' } }, 'running');
  for (const { call } of [atA, atB]) t.equal((await call('POST', '/api/jobs', job)).status, 201);
  t.match(await atB.call('POST', '/api/jobs', job), { status: 429, body: { code: 'CAPACITY' } }, 'queued');
  t.match(await atA.call('POST', '/api/jobs', job), { status: 429, body: { code: 'CAPACITY' } }, 'per minute');
  t.equal(await running(), 1, 'though both nodes have free slots');
});
