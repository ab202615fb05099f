import t from 'tap';
import type { BatchRecord } from '#troupe/protocol/batches/batch.js';
import type { SessionRecord } from '#troupe/protocol/session.js';
import { eventually } from '../support/eventually.js';
import { httpCall } from '../support/http-call.js';
import { latePage } from '../support/late-page.js';
import { guardLeaks } from '../support/leaks.js';
import { openSelenium } from '../support/selenium.js';
import { client } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { postgresMissing } from '../support/test-store.js';
import { startReceiver } from '../webhooks/receiver.js';
import { makeNodes } from './running-nodes.js';

guardLeaks(t);

const skip = await postgresMissing();

t.test('The `parallel` of a batch holds over all nodes, and its jobs run on all', { skip }, async (t) => {
  const page = await latePage(t);
  const flows = { 'held.js': `agent.go('${page.url}'); 1`, 'quick.js': '1' };
  const nodes = await makeNodes(t, { flows });
  const [a, b] = await Promise.all([nodes.start('a'), nodes.start('b')]);
  const job = { prompt: 'x', flowFiles: ['held.js'], maxIterations: 0 };
  const jobs = Array.from({ length: 7 }, () => job);
  const { status, body: batch } = await a.call('POST', '/api/batches', { jobs, parallel: 3 });
  t.equal(status, 201);
  const quick = await b.call('POST', '/api/jobs', { ...job, flowFiles: ['quick.js'] });
  const recordOf = async (path: string) => (await b.call('GET', path)).body;
  const isOver = async (path: string) => typeof (await recordOf(path)).endedAt === 'string';
  await eventually('as many run as may', () => page.waiting === 3);
  // The fourth slot is free for it, and for nothing of the batch.
  await eventually('a later job has ended', () => isOver(`/api/sessions/${quick.body.id}`));
  const state = (await recordOf(`/api/batches/${batch.id}`)) as BatchRecord;
  t.match(state, { parallel: 3, counts: { total: 7, running: 3, queued: 4 } });
  let most = 0;
  await eventually('the batch has ended', async () => {
    most = Math.max(most, page.waiting);
    page.answer();
    return isOver(`/api/batches/${batch.id}`);
  });
  t.equal(most, 3);
  t.match(await recordOf(`/api/batches/${batch.id}`), { counts: { total: 7, completed: 7 } });
  const records: readonly SessionRecord[] = await recordOf(`/api/sessions?batch=${batch.id}`);
  t.same(new Set(records.map(({ node }) => node)), new Set(['a', 'b']));
  const cancelled = (await b.call('POST', '/api/batches', { jobs, parallel: 1 })).body;
  await eventually('one of the second batch runs', () => page.waiting === 1);
  const stopped = await a.call('DELETE', `/api/batches/${cancelled.id}`);
  t.match(stopped.body, { state: 'stopped', counts: { total: 7, stopped: 7 } });
});

t.test('A WebDriver session works through any node', { skip }, async (t) => {
  const nodes = await makeNodes(t);
  const [a, b] = await Promise.all([nodes.start('a'), nodes.start('b', { server: 'node' })]);
  for (const [own, other] of [
    [a, b],
    [b, a],
  ] as const) {
    const driver = await openSelenium(t, `${own.url}/wd/hub`);
    const id = (await driver.getSession()).getId();
    const command = async (method: string, path: string, body?: object) =>
      (await other.call(method, `/wd/hub/session/${id}/${path}`, body)).body.value;
    await command('POST', 'url', { url: 'data:text/html,<title>of another node</title><button>Go</button>' });
    t.equal(await command('GET', 'title'), 'of another node');
    t.equal(await driver.getTitle(), 'of another node');
    const found = await command('POST', 'element', { using: 'css selector', value: 'button' });
    t.equal(await command('GET', `element/${Object.values(found)[0]}/text`), 'Go');
    const none = await other.call('POST', `/session/${id}/element`, { using: 'css selector', value: 'a' });
    t.match(none, { status: 404, body: { value: { error: 'no such element' } } });
    t.match(await other.call('DELETE', `/wd/hub/session/${id}`), { status: 200, body: { value: null } });
    t.match((await own.call('GET', `/api/sessions/${id}`)).body, { status: 'stopped', node: own.id });
    const late = await other.call('GET', `/wd/hub/session/${id}/title`);
    t.match(late, { status: 404, body: { value: { error: 'invalid session id' } } });
  }
});

t.test('Pictures, control and input of a session pass through any node', { skip }, async (t) => {
  const nodes = await makeNodes(t);
  const [a, b] = await Promise.all([nodes.start('a'), nodes.start('b', { server: 'node' })]);
  const page = `data:text/html,<title>typed</title><input autofocus oninput="document.title = this.value">`;
  for (const [own, other] of [
    [a, b],
    [b, a],
  ] as const) {
    const { id } = await own.live();
    await own.run(id, `agent.go('${page}'); agent.act('{input}', 'click')`);
    const viewer = await StreamClient.open(other.url);
    t.teardown(() => viewer.close());
    viewer.ask({ type: 'watchScreen', id, pace: 'live' });
    await eventually('the first picture', () => viewer.of('frame').length > 0);
    t.match(viewer.of('frame')[0], { id, width: Number, height: Number });
    t.equal(viewer.of('hello').length, 1);
    const path = `/api/sessions/${id}/control`;
    const { control } = (await other.call('POST', path, { take: true })).body;
    const shown = viewer.of('frame').length;
    viewer.ask({ type: 'holdControl', id, key: control });
    viewer.ask({ type: 'input', id, inputs: [{ kind: 'text', text: 'far away' }] });
    await eventually('what was typed is shown', () => viewer.of('frame').length > shown);
    t.match((await other.call('POST', path, { take: false, control })).body, { taken: false });
    t.equal((await own.run(id, 'agent.page("document.title")')).body, 'far away');
    viewer.ask({ type: 'input', id, inputs: [{ kind: 'text', text: 'not any more' }] });
    await eventually('it is refused', () => viewer.of('refused').length > 0);
    t.match(viewer.of('refused')[0], { id, error: { code: 'SESSION_BUSY' } });
    await own.call('DELETE', `/api/sessions/${id}`);
  }
});

t.test('Pictures of a job follow it from the queue to the node that runs it', { skip }, async (t) => {
  const page = await latePage(t);
  const held = `agent.go('data:text/html,<h1>one</h1>'); agent.go('${page.url}'); 1`;
  const nodes = await makeNodes(t, { flows: { 'held.js': held } });
  const a = await nodes.start('a', { maxSessions: 1 });
  const live = await a.live();
  const { body: job } = await a.call('POST', '/api/jobs', { prompt: 'x', flowFiles: ['held.js'], maxIterations: 0 });
  const viewer = await StreamClient.open(a.url);
  t.teardown(() => viewer.close());
  viewer.ask({ type: 'watchScreen', id: job.id, pace: 'live' });
  const b = await nodes.start('b', { maxSessions: 1 });
  await eventually('the first picture', () => viewer.of('frame').length > 0);
  t.match((await a.call('GET', `/api/sessions/${job.id}`)).body, { status: 'running', node: 'b' });
  page.answer();
  await b.seen(job.id, 'SessionEnded');
  await a.call('DELETE', `/api/sessions/${live.id}`);
});

t.test('The link of a handoff works at any node, as long as the handoff is open', { skip }, async (t) => {
  process.env.TROUPE_TEST_NODES_TOKEN = 'correct-horse';
  process.env.TROUPE_TEST_NODES_SECRET = 'a secret of the test';
  const receiver = await startReceiver(t);
  const page = 'data:text/html,<input autofocus>';
  const nodes = await makeNodes(t, {
    flows: { 'ask.js': `() => { agent.go('${page}'); agent.handoff('Type it'); return 1; }` },
  });
  const settings = {
    token: 'TROUPE_TEST_NODES_TOKEN',
    publicUrl: 'http://troupe.test/',
    handoff: { link: true },
    webhookSecret: 'TROUPE_TEST_NODES_SECRET',
    webhooks: { allow: ['127.0.0.1'] },
  };
  const [a, b] = await Promise.all([nodes.start('a', settings), nodes.start('b', settings)]);
  const admin = client(a.url, { authorization: 'Bearer correct-horse' });
  const job = { prompt: 'x', maxIterations: 0, flowFiles: ['ask.js'], webhook: receiver.url };
  const { id } = (await admin.call('POST', '/api/jobs', job)).body;
  const message = () => receiver.received.map(({ body }) => JSON.parse(body)).find(({ data }) => data.handoff);
  await eventually('the link was sent', () => message() !== undefined);
  const link = new URL(message().data.handoff.link).pathname;
  const { node } = (await admin.call('GET', `/api/sessions/${id}`)).body;
  const other = node === 'a' ? b : a;
  const open = () => httpCall(other.url, { method: 'GET', path: link });
  await eventually('the other node knows of the handoff', async () => (await open()).status === 303);
  const [setCookie = ''] = [(await open()).headers['set-cookie']].flat();
  const cookie = setCookie.split(';')[0] ?? '';
  const guest = client(other.url, { cookie });
  t.match(await guest.call('GET', `/api/sessions/${id}`), { status: 200, body: { status: 'running' } });
  const viewer = await StreamClient.open(other.url, { cookie });
  t.teardown(() => viewer.close());
  viewer.ask({ type: 'watchScreen', id, pace: 'live' });
  await eventually('the first picture', () => viewer.of('frame').length > 0);
  const path = `/api/sessions/${id}/control`;
  t.match(await guest.call('POST', path, { take: true, takeOver: true }), { status: 403 }, 'what links may not');
  const taken = await guest.call('POST', path, { take: true });
  t.match(taken, { status: 200, body: { taken: true } });
  viewer.ask({ type: 'holdControl', id, key: taken.body.control });
  const late = client(other.url);
  t.match(await late.call('POST', `/api/sessions/${id}/handoff`, { answer: 'done' }), { status: 401 });
  t.match(await guest.call('POST', `/api/sessions/${id}/handoff`, { answer: 'done' }), { status: 200 });
  await eventually('the job goes on', async () => {
    return (await admin.call('GET', `/api/sessions/${id}`)).body.status === 'completed';
  });
  await eventually('the link is of no use any more', async () => (await open()).status === 403);
  t.equal(await viewer.closed, 4401, 'and the page that it opened is closed');
});
