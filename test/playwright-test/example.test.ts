import { readdirSync } from 'node:fs';
import t from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { guardLeaks } from '../support/leaks.js';
import { startTestService } from '../support/service.js';
import { runSuite } from './run-suite.js';

guardLeaks(t);

t.test('the example suite passes on the farm in three workers, and each test has a session', async (t) => {
  const shop = await startShop({ port: 0 });
  t.teardown(() => shop.close());
  const service = await startTestService(t, { maxSessions: 3, forward: [Number(new URL(shop.url).port)] });
  const out = t.testdir();
  const env = { TROUPE_URL: service.url, SHOP_URL: shop.url, OUTPUT_DIR: out };
  const { outcomes, said } = await runSuite('examples/playwright', env);
  const statuses = Object.values(outcomes).map(({ status }) => status);
  t.same(statuses, Array(10).fill('passed'), said.slice(0, 5_000));
  t.same(
    readdirSync(out).filter((name) => !name.startsWith('.')),
    [],
  );
  const { body } = await service.call('GET', '/api/sessions?label=suite=shop');
  t.same(
    body.map(({ name }: { name: string }) => name.replace(/^the cart › /, '')).sort(),
    Object.keys(outcomes).sort(),
  );
  t.equal(
    body.every(({ status }: { status: string }) => status === 'stopped'),
    true,
  );
  const workers = new Set(body.map(({ labels }: { labels: { worker: string } }) => labels.worker));
  t.equal(workers.size, 3);
});

t.test('videos of the tests are part of their results', async (t) => {
  const shop = await startShop({ port: 0 });
  t.teardown(() => shop.close());
  const service = await startTestService(t, { forward: [Number(new URL(shop.url).port)] });
  const env = { TROUPE_URL: service.url, SHOP_URL: shop.url, OUTPUT_DIR: t.testdir(), VIDEO: 'on' };
  const { outcomes, said } = await runSuite('examples/playwright', env, '-g', 'a product has a price');
  t.match(Object.values(outcomes), [{ status: 'passed' }], said.slice(0, 5_000));
  t.same(
    Object.values(outcomes).flatMap(({ attachments }) => attachments.map(({ name }) => name)),
    ['video'],
  );
});
