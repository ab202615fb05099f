import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Baselines } from '#troupe/agent-js/visual/baselines.js';
import { guardLeaks } from '../support/leaks.js';
import { makeHome, startTestService } from '../support/service.js';
import { runTroupe } from '../support/service-process.js';

guardLeaks(t);
process.env.DOCKER_HOST = 'unix:///nonexistent/docker.sock';

t.test('a run stores baselines beside its flows, compares with them, and reports what differs', async (t) => {
  const service = await startTestService(t, { maxSessions: 1, warmSessions: 0 });
  const folder = mkdtempSync(join(tmpdir(), 'checkout-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'flows/shop'), { recursive: true });
  writeFileSync(
    join(folder, 'flows/shop/cart.js'),
    "({ name }) => { agent.go('data:text/html,<h1>Cart</h1><button>' + name + '</button>'); agent.expectScreenshot('cart'); agent.expectLook('cart'); };",
  );
  const baselines = join(folder, 'flows/shop/cart.baselines');
  const reports = join(folder, 'reports');
  const run = (name: string, ...words: string[]) =>
    runTroupe(
      makeHome(t),
      'run',
      join(folder, 'flows/shop/cart.js'),
      ...['--url', service.url, '--args', `name=${name}`, '--act-timeout', '1', '--report', reports, ...words],
    );

  const first = await run('Buy');
  t.equal(first.code, 1, first.output);
  t.match(first.output, /There is no baseline shop\/cart\.baselines\/cart\.process-\w+\.png.*--update-baselines/s);
  t.notOk(existsSync(baselines));

  const storing = await run('Buy', '--update-baselines', '--act-timeout', '30');
  t.equal(storing.code, 0, storing.output);
  t.same(readdirSync(baselines).sort(), ['cart.look.txt', `cart.process-${process.platform}.png`]);
  t.equal(readFileSync(join(baselines, 'cart.look.txt'), 'utf8'), '{button}Buy\n');
  t.match(storing.output, /Stored the baseline shop\/cart\.baselines\/cart\.look\.txt/);

  const passing = await run('Buy');
  t.equal(passing.code, 0, passing.output);

  const failing = await run('Pay');
  t.equal(failing.code, 1, failing.output);
  t.match(failing.output, /does not look like shop\/cart\.baselines\/cart\.process-\w+\.png: \d+ pixels differ/);
  const [report = ''] = readdirSync(reports, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('report.html'),
  );
  const html = readFileSync(join(reports, report), 'utf8');
  for (const alt of ['Expected', 'Received', 'Difference']) {
    t.match(html, new RegExp(`<figcaption>${alt}</figcaption><img src="data:image/png;base64,[^"]+" alt="${alt}">`));
  }
  t.match(html, /class="slider"/);
});

t.test('sessions that store the same baseline at once do not disturb each other', async (t) => {
  const flowsDir = t.testdir({ 'cart.js': '' });
  const baseline = { path: 'cart.baselines/cart.png', name: 'cart' };
  const store = async (which: number) => {
    const artifactsDir = mkdtempSync(join(tmpdir(), `artifacts${which}-`));
    t.teardown(() => rmSync(artifactsDir, { recursive: true }));
    const baselines = new Baselines({ flowsDir, artifactsDir, platform: '', updating: true });
    for (let n = 0; n < 20; n += 1) await baselines.write(baseline, Buffer.from(`${which} ${n}`));
  };
  await Promise.all([1, 2, 3, 4].map(store));
  t.same(readdirSync(join(flowsDir, 'cart.baselines')), ['cart.png']);
});
