import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openSite } from '../support/agent-fixture.js';
import { runningBrowsers } from '../support/browsers.js';
import { containersUnder } from '../support/docker.js';
import { guardLeaks } from '../support/leaks.js';
import { startModelServer } from '../support/model-server.js';
import { SEED } from '../support/seed.js';
import { makeHome } from '../support/service.js';
import { JobKills } from './job-kills.js';
import { buyer, openShop } from './order-page.js';
import { seededRandom } from './seeded-random.js';

guardLeaks(t);

/** `npm run chaos -- --kind jobs` runs more of them, as CI does. */
const jobs = Number(process.env.TROUPE_CHAOS_JOBS ?? 2);
const seed = Number(process.env.TROUPE_CHAOS_SEED ?? SEED);
const driver = process.env.TROUPE_CHAOS_DRIVER ?? 'process';

/** Orders where it finds that nothing was ordered yet: it may run again. */
const FLOW = `({ shop, job }) => {
  agent.go(shop + '?job=' + job);
  if (agent.look().elements.some(({ name }) => name === 'Order')) agent.act('{button}Order', 'click');
  agent.text('{button}Again');
}`;

t.test('jobs end once each and do nothing twice, whatever is killed under them', async (t) => {
  const orders = new Map<string, number>();
  const site = await openSite(t);
  const shop = openShop(site, orders);
  const model = await startModelServer(t, (request) => buyer(request, shop));
  const home = makeHome(t, {
    driver,
    forward: [Number(new URL(shop).port)],
    models: ['scripted/m'],
    providers: { scripted: { baseURL: model.baseURL } },
    maxSessions: 3,
  });
  writeFileSync(join(home, 'flows', 'order.js'), FLOW);
  const kills = new JobKills({
    jobs,
    kills: Math.ceil(jobs / 2),
    random: seededRandom(seed),
    driver,
    home,
    shop,
    orders,
  });
  t.teardown(() => kills.stop());
  try {
    await kills.run();
    const left = driver === 'docker' ? await containersUnder(tmpdir()) : runningBrowsers();
    t.same(left, [], 'no browser is left');
    t.comment(`seed ${seed}, ${jobs} jobs: ${JSON.stringify(kills.counts)}`);
    t.pass('all of it holds');
  } catch (error) {
    t.fail(`With seed ${seed} (npm run chaos -- --kind jobs --jobs ${jobs} --seed ${seed} --driver ${driver})`, {
      error: String(error),
    });
  }
});
