import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';
import { startReceiver } from '../webhooks/receiver.js';

guardLeaks(t);
process.env.TROUPE_TEST_WEBHOOK_SECRET = 'a secret of the test';

t.test('A job tells of its start and its failure, and what did not arrive comes after a restart', async (t) => {
  const home = makeHome(t, { webhookSecret: 'TROUPE_TEST_WEBHOOK_SECRET' });
  const receiver = await startReceiver(t);
  const first = await startTestService(t, {}, home);
  const task = { flowFiles: ['examples/search.js'], args: { base: 'http://127.0.0.1:9' }, webhook: receiver.url };
  const told = await first.job(task);
  t.equal(told.status, 'failed');
  await receiver.until(2);
  const types = receiver.received.map(({ body }) => JSON.parse(body).type);
  t.same(types.sort(), ['session.failed', 'session.started']);
  await receiver.close();
  const silent = await first.job(task);
  const waiting = () => first.call('GET', `/api/sessions/${silent.id}/webhooks`);
  await eventually('both were tried', async () =>
    (await waiting()).body.every((one: object) => Reflect.get(one, 'attempts') > 0),
  );
  await first.stop(0);
  const back = await startReceiver(t, Number(new URL(receiver.url).port));
  const second = await startTestService(t, {}, home);
  await back.until(2);
  t.ok(back.received.every(({ headers }) => String(headers['webhook-id']).startsWith(silent.id)));
  const replayed = await second.call('POST', `/api/sessions/${told.id}/webhooks`, { moment: 'ended' });
  t.equal(replayed.status, 200);
  await back.until(3);
  t.equal(back.received[2]?.headers['webhook-id'], `${told.id}_ended`);
  for (const webhook of ['http://169.254.169.254/', 'ftp://x.test/', 'nothing']) {
    const answer = await second.call('POST', '/api/jobs', { prompt: 'x', ...task, maxIterations: 0, webhook });
    t.match(answer, { status: 400, body: { code: 'INVALID_REQUEST', error: /webhook/ } }, webhook);
  }
});

t.test('Without a secret a webhook is refused by name', async (t) => {
  const service = await startTestService(t);
  const task = { prompt: 'x', flowFiles: ['examples/search.js'], maxIterations: 0, webhook: 'https://ci.test/' };
  t.match(await service.call('POST', '/api/jobs', task), { status: 400, body: { error: /webhookSecret/ } });
});

t.test(
  'A batch sends one message when its last job has ended, also if that was while no receiver answered',
  async (t) => {
    const home = makeHome(t, { webhookSecret: 'TROUPE_TEST_WEBHOOK_SECRET' });
    const receiver = await startReceiver(t);
    const first = await startTestService(t, {}, home);
    const job = { prompt: 'x', maxIterations: 0 };
    const flows = { 'sum.js': '() => 1 + 1;', 'fails.js': '() => {\n  match(1, 2);\n};' };
    const accepted = await first.call('POST', '/api/batches', {
      name: 'nightly',
      flows,
      jobs: [
        { ...job, flowFiles: ['sum.js'] },
        { ...job, flowFiles: ['fails.js'], name: 'pay' },
      ],
      webhook: `${receiver.url}?key=hidden`,
    });
    t.equal(accepted.status, 201, JSON.stringify(accepted.body));
    const { id } = accepted.body;
    await receiver.until(1);
    t.match(JSON.parse(receiver.received[0]?.body ?? ''), {
      type: 'batch.failed',
      data: {
        id,
        name: 'nightly',
        counts: { completed: 1, failed: 1 },
        failures: [{ name: 'pay', code: 'MATCH_FAILED', flow: 'fails', line: 2, view: /#\/sessions\// }],
      },
    });
    const delivery = () => first.call('GET', `/api/batches/${id}/webhooks`);
    await eventually('it is noted', async () => (await delivery()).body[0]?.state === 'delivered');
    t.notMatch(JSON.stringify((await first.call('GET', `/api/batches/${id}`)).body), 'hidden');

    await receiver.close();
    const silent = await first.call('POST', '/api/batches', {
      flows,
      jobs: [{ ...job, flowFiles: ['sum.js'] }],
      webhook: receiver.url,
      webhookFormat: 'slack',
    });
    const tries = async () => (await first.call('GET', `/api/batches/${silent.body.id}/webhooks`)).body[0]?.attempts;
    await eventually('it was tried', async () => (await tries()) > 0);
    await first.stop(0);
    const back = await startReceiver(t, Number(new URL(receiver.url).port));
    const second = await startTestService(t, {}, home);
    await back.until(1);
    t.equal(back.received[0]?.headers['webhook-id'], `${silent.body.id}_ended`);
    t.match(JSON.parse(back.received[0]?.body ?? ''), { text: /passed: 0 failed · 1 passed · of 1$/ });
    t.equal((await second.call('POST', `/api/batches/${id}/webhooks`, {})).status, 200);
    await back.until(2);
    t.equal(
      back.received[1]?.headers['webhook-id'],
      `${id}_ended`,
      'the ended batch was not announced again by itself',
    );
    const refused = await second.call('POST', '/api/batches', { jobs: [job], webhook: 'ftp://x.test/' });
    t.match(refused, { status: 400, body: { code: 'INVALID_REQUEST', error: /webhook/ } });
  },
);

t.test('A batch that ends while the service stops is announced by the next one, once', async (t) => {
  const home = makeHome(t, { webhookSecret: 'TROUPE_TEST_WEBHOOK_SECRET' });
  const receiver = await startReceiver(t);
  const first = await startTestService(t, {}, home);
  const accepted = await first.call('POST', '/api/batches', {
    flows: { 'long.js': '() => agent.wait(60000)' },
    jobs: [{ prompt: 'x', maxIterations: 0, flowFiles: ['long.js'] }],
    webhook: receiver.url,
  });
  await first.call('DELETE', `/api/batches/${accepted.body.id}`);
  await first.stop(0);
  const second = await startTestService(t, {}, home);
  await receiver.until(1);
  await second.stop(0);
  await startTestService(t, {}, home);
  await receiver.until(1);
  t.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1);
  t.match(JSON.parse(receiver.received[0]?.body ?? ''), { type: 'batch.stopped', data: { counts: { stopped: 1 } } });
});
