import t from 'tap';
import { eventually } from '../support/eventually.js';
import { latePage } from '../support/late-page.js';
import { guardLeaks } from '../support/leaks.js';
import { done, evaluate, startModelServer } from '../support/model-server.js';
import { postgresMissing, query } from '../support/test-store.js';
import { makeNodes } from './running-nodes.js';

guardLeaks(t);

const skip = await postgresMissing();

t.test('An outage of the database that is shorter than the lease costs no job anything', { skip }, async (t) => {
  const page = await latePage(t);
  // The lease of the defaults: 20 s without the database.
  const nodes = await makeNodes(t, { leaseFactor: 1, flows: { 'held.js': `agent.go('${page.url}'); 1` } });
  const model = await startModelServer(t, async (_, index) => {
    if (index === 0) return evaluate(`agent.go('data:text/html,<h1>one</h1>'); 1`);
    if (index > 1) return done(true, 'two');
    await eventually('the flow has begun', () => page.waiting > 0);
    await nodes.server.stop('SIGKILL');
    return evaluate('agent.page("document.title = (document.title || 0) + 1"); agent.page("document.title")');
  });
  const node = await nodes.start('a', {
    models: ['scripted/m'],
    providers: { scripted: { baseURL: model.baseURL } },
  });
  const flow = { prompt: 'x', flowFiles: ['held.js'], maxIterations: 0 };
  const [inFlow, withModel] = [
    (await node.call('POST', '/api/jobs', flow)).body.id,
    (await node.call('POST', '/api/jobs', { prompt: 'x', maxIterations: 9 })).body.id,
  ];
  const health = async () => (await node.call('GET', '/api/health')).body.status;
  await eventually('writes have failed for as long as they are tried at once', async () => (await health()) !== 'ok');
  page.answer();
  const late = await node.call('POST', '/api/jobs', flow);
  t.match(late, { status: 503, body: { code: 'UNAVAILABLE' } }, 'nothing is accepted meanwhile');
  await nodes.server.start();
  const record = async (id: string) => (await node.call('GET', `/api/sessions/${id}`)).body;
  for (const id of [inFlow, withModel]) {
    await eventually('it has ended', async () => typeof (await record(id)).endedAt === 'string');
    t.match(await record(id), { status: 'completed', attempt: 1, error: null });
  }
  t.match(await record(withModel), { summary: 'two' });
  t.equal(model.requests.length, 3, 'the model was asked for nothing again');
  t.match(model.requests[2]?.body.messages.at(-1)?.content, /"1"/, 'and what it said was done once');
  const { rows } = await query(nodes.database, 'select session_id, type from events order by seq');
  const types = (id: string) => rows.filter(({ session_id }) => session_id === id).map(({ type }) => type);
  for (const id of [inFlow, withModel]) {
    for (const once of ['SessionAccepted', 'SessionStarted', 'SessionEnded']) {
      t.equal(types(id).filter((type) => type === once).length, 1, `${once} of ${id}`);
    }
    t.equal(types(id).at(-1), 'SessionEnded');
  }
  t.equal(types(withModel).filter((type) => type === 'ModelCallFinished').length, 3);
});
