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
