import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openSite, type Site } from '../support/agent-fixture.js';
import { runningBrowsers } from '../support/browsers.js';
import { containersUnder } from '../support/docker.js';
import { guardLeaks } from '../support/leaks.js';
import { done, evaluate, type ModelRequest, startModelServer, type Turn } from '../support/model-server.js';
import { SEED } from '../support/seed.js';
import { makeHome } from '../support/service.js';
import { JobKills } from './job-kills.js';
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

/** A page on which an order is one click, counted by its server, which knows what was ordered. */
function openShop(site: Site, orders: Map<string, number>): string {
  const page = (ordered: boolean, job: string) =>
    ordered
      ? '<title>Thanks</title><button>Again</button>'
      : `<title>Shop</title><form action=/order><input type=hidden name=job value="${job}"><button>Order</button></form>`;
  const jobOf = (url: string | undefined) => new URL(url ?? '/', site.origin).searchParams.get('job') ?? '';
  site.set('/order', (request, response) => {
    const job = jobOf(request.url);
    orders.set(job, (orders.get(job) ?? 0) + 1);
    response.writeHead(200, { 'content-type': 'text/html' }).end(page(true, job));
  });
  const path = site.set('/shop', (request, response) => {
    const job = jobOf(request.url);
    response.writeHead(200, { 'content-type': 'text/html' }).end(page(orders.has(job), job));
  });
  return path.replace('127.0.0.1', 'localhost');
}

/** A careful buyer: who is told that an outcome is unknown waits until the page is quiet, and looks before the next step. */
function buyer({ body: { messages } }: ModelRequest, shop: string): Turn {
  const job = /job-\d+/.exec(messages[1]?.content ?? '')?.[0] ?? '';
  const last = messages.at(-1)?.content ?? '';
  const made = messages.findLast(({ role }) => role === 'assistant')?.tool_calls?.[0]?.function.arguments ?? '';
  if (made === '' || /new one: it shows an empty page/.test(last)) return evaluate(`agent.go('${shop}?job=${job}')`);
  if (/not known|<error>/.test(last)) return evaluate(`agent.wait('idle'); agent.look({full: true})`);
  if (last.includes('{button}Again')) return done(true, 'Ordered');
  if (last.includes('{button}Order')) return evaluate(`agent.act('{button}Order', 'click')`);
  return evaluate(`agent.go('${shop}?job=${job}')`);
}
