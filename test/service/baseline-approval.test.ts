import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';

guardLeaks(t);
process.env.DOCKER_HOST = 'unix:///nonexistent/docker.sock';

/** What the page's button says; a test changes it between runs. */
let label = 'Buy';
const site = createServer((_, response) => {
  response.setHeader('content-type', 'text/html');
  response.end(`<h1>Cart</h1><button>${label}</button>`);
});
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
t.teardown(() => new Promise((resolve) => site.close(resolve)));
const { port } = site.address() as AddressInfo;
const FLOW = `({ base }) => { agent.go(base); agent.expectScreenshot('cart', { timeout: 1500 }); }`;
const PATH = `shop/cart.baselines/cart.process-${process.platform}.png`;
process.env.APPROVAL_TEST_TOKEN = 'correct-horse';
t.teardown(() => {
  delete process.env.APPROVAL_TEST_TOKEN;
});
const home = makeHome(t, { maxSessions: 2, warmSessions: 0, forward: [port], token: 'APPROVAL_TEST_TOKEN' });
mkdirSync(join(home, 'flows/shop'), { recursive: true });
writeFileSync(join(home, 'flows/shop/cart.js'), FLOW);
const service = await startTestService(t, {}, home);
const admin = { headers: { authorization: 'Bearer correct-horse' } };
const JOB = {
  prompt: 'cart',
  name: 'cart',
  flowFiles: ['shop/cart.js'],
  maxIterations: 0,
  args: { base: `http://127.0.0.1:${port}/` },
};
const run = async () => (await service.call('POST', '/api/sessions/run', JOB, admin)).body;
const approve = (id: string, baseline = PATH, options = admin) =>
  service.call('POST', `/api/sessions/${id}/baselines`, { baseline }, options);

t.test('an admin approves the picture that a check received, and the next run passes', async (t) => {
  const failed = await run();
  t.match(failed, { status: 'failed', error: { code: 'FLOW_FAILED' } });
  const { token } = (await service.call('POST', '/api/tokens', { name: 'ci', role: 'run' }, admin)).body;
  t.match(await approve(failed.id, PATH, { headers: { authorization: `Bearer ${token}` } }), {
    status: 403,
    body: { code: 'FORBIDDEN' },
  });
  t.match(await approve(failed.id, 'shop/cart.baselines/other.png'), { status: 404, body: { code: 'NOT_FOUND' } });
  t.notOk(existsSync(join(home, 'flows', PATH)));

  const approved = await approve(failed.id);
  t.match(approved, { status: 200, body: { baseline: PATH, flows: 'service', artifact: `baselines/${PATH}` } });
  const stored = readFileSync(join(home, 'flows', PATH));
  t.equal(stored.length, approved.body.bytes);
  const artifacts = (await service.call('GET', `/api/sessions/${failed.id}/artifacts`, undefined, admin)).body;
  t.match(
    artifacts.find(({ path }: { path: string }) => path === `baselines/${PATH}`),
    { bytes: stored.length },
  );
  t.match(await run(), { status: 'completed' });
  t.match(await approve(failed.id), { status: 200 }, 'a second time changes nothing');
});

t.test('a baseline that has changed since the check is not overwritten', async (t) => {
  label = 'Pay';
  const failed = await run();
  t.match(failed.error.error, /does not look like/);
  const other = Buffer.concat([readFileSync(join(home, 'flows', PATH)), Buffer.from('changed')]);
  writeFileSync(join(home, 'flows', PATH), other);
  const refused = await approve(failed.id);
  t.match(refused, {
    status: 412,
    body: { code: 'PRECONDITION_FAILED', error: /has changed since .* run the flow again/ },
  });
  t.same(readFileSync(join(home, 'flows', PATH)), other);
});

t.test('a path that a script made up is refused', async (t) => {
  const { id } = await service.call('POST', '/api/sessions', {}, admin).then(({ body }) => body);
  const shot = "agent.screenshot('x').file";
  for (const baseline of ['../../escaped.baselines/x.png', 'shop/cart.js', '.git/x.baselines/y.png']) {
    const js = `const error = new Error('made up'); error.code = 'MATCH_FAILED';
      error.details = { baseline: ${JSON.stringify(baseline)}, pictures: { received: ${shot} } }; throw error;`;
    await service.call('POST', `/sessions/${id}/proxy`, { js }, admin);
    t.match(await approve(id, baseline), { status: 404 }, baseline);
  }
  t.notOk(existsSync(join(home, '..', 'escaped.baselines')));
  t.equal(readFileSync(join(home, 'flows/shop/cart.js'), 'utf8'), FLOW);
  await service.call('DELETE', `/api/sessions/${id}`, undefined, admin);
});

t.test(
  "the baseline of a run's own flows is stored in its copy, and goes with it when the run is repeated",
  async (t) => {
    label = 'Buy';
    const ended = async (batch: string) => {
      const read = async () => (await service.call('GET', `/api/batches/${batch}`, undefined, admin)).body;
      await eventually('the run ends', async () => (await read()).endedAt !== null, 60_000);
      return read();
    };
    const request = { name: 'Own', flows: { 'shop/cart.js': FLOW }, jobs: [JOB] };
    const first = (await service.call('POST', '/api/batches', request, admin)).body;
    t.match((await ended(first.id)).counts, { failed: 1 });
    const before = readFileSync(join(home, 'flows', PATH));
    t.match(await approve(first.jobs[0]), { status: 200, body: { flows: 'run' } });
    t.same(readFileSync(join(home, 'flows', PATH)), before, "the service's own flows are left alone");
    for (let round = 0, id = first.id; round < 2; round += 1) {
      const again = (await service.call('POST', `/api/batches/${id}/rerun`, { jobs: 'all' }, admin)).body;
      t.match((await ended(again.id)).counts, { completed: 1 }, `round ${round}`);
      id = again.id;
    }
  },
);
