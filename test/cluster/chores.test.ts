import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { postgresMissing, query } from '../support/test-store.js';
import { startReceiver } from '../webhooks/receiver.js';
import { makeNodes } from './running-nodes.js';

guardLeaks(t);
process.env.TROUPE_TEST_WEBHOOK_SECRET = 'a secret of the test';

const missing = await postgresMissing();

t.test('Webhooks are sent once by one node, and another takes that over when it dies', { skip: missing }, async (t) => {
  const nodes = await makeNodes(t, { flows: { 'sum.js': '() => 1 + 1' }, leaseFactor: 0.3 });
  const settings = { webhookSecret: 'TROUPE_TEST_WEBHOOK_SECRET', maxSessions: 1 };
  const both = await Promise.all([nodes.start('a', settings), nodes.start('b', settings)]);
  const receiver = await startReceiver(t);
  const idsOf = () => receiver.received.map(({ headers }) => String(headers['webhook-id'])).sort();
  const holder = async () => {
    const { rows } = await query(
      nodes.database,
      "select id from meta join cluster_nodes on start_token = value where key = 'chores'",
    );
    return both.find(({ id }) => id === rows[0]?.id);
  };
  await eventually('a node does the chores', async () => (await holder()) !== undefined);
  const doer = await holder();
  const other = both.find((node) => node !== doer);
  if (doer === undefined || other === undefined) throw new Error('No two nodes');
  const job = { prompt: 'x', flowFiles: ['sum.js'], maxIterations: 0 };
  const { body: batch } = await other.call('POST', '/api/batches', { jobs: [job, job], webhook: receiver.url });
  const ids: string[] = [];
  for (const { call } of [...both, ...both]) {
    ids.push((await call('POST', '/api/jobs', { ...job, webhook: receiver.url })).body.id);
  }
  const wanted = [...ids.flatMap((id) => [`${id}_started`, `${id}_ended`]), `${batch.id}_ended`].sort();
  await eventually('all messages have arrived', () => wanted.every((id) => idsOf().includes(id)), 120_000);
  t.same(idsOf(), wanted, 'each once');
  const runs = async () =>
    (await other.call('GET', '/api/stats')).body.flows.find(({ flow }: { flow: string }) => flow === 'sum');
  t.match(await runs(), { runs: 6, passed: 6 }, 'each run is counted once');
  // The node that accepted this batch, and that would send its message, dies at once.
  const last = await doer.call('POST', '/api/batches', { jobs: [job], webhook: receiver.url });
  t.equal(last.status, 201);
  await doer.process.end('SIGKILL');
  const end = `${last.body.id}_ended`;
  await eventually('the other node sends the message', () => idsOf().includes(end), 120_000);
  t.equal((await holder())?.id, other.id);
  t.equal(idsOf().filter((id) => id === end).length, 1);
  await doer.process.end('SIGKILL');
  await nodes.start(doer.id, settings);
});
