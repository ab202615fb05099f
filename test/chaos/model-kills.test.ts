import { setTimeout as pass } from 'node:timers/promises';
import t from 'tap';
import { openSite, type Site } from '../support/agent-fixture.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { done, evaluate, type ModelRequest, startModelServer, type Turn } from '../support/model-server.js';
import { SEED } from '../support/seed.js';
import { client, makeHome } from '../support/service.js';
import { startServiceProcess } from '../support/service-process.js';
import { seededRandom } from './seeded-random.js';

guardLeaks(t);

const JOBS = Number(process.env.TROUPE_CHAOS_JOBS ?? 6);
const KILLS = Number(process.env.TROUPE_CHAOS_KILLS ?? 2);
const CHAOS_SEED = Number(process.env.TROUPE_CHAOS_SEED ?? SEED);
const LONGEST_LIFE_MS = 8_000;
const ENDS_MS = 200_000;

t.test(
  `jobs that a model works on end once each under kill -9, with nothing done twice (seed ${CHAOS_SEED})`,
  async (t) => {
    const random = seededRandom(CHAOS_SEED);
    const orders = new Map<string, number>();
    const site = await openSite(t);
    const page = openShop(site, orders);
    const model = await startModelServer(t, (request) => buyer(request, page));
    const providers = { scripted: { baseURL: model.baseURL } };
    const home = makeHome(t, { models: ['scripted/m'], providers, warmSessions: 0, maxSessions: 3 });
    const ids: string[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const service = await startServiceProcess(t, home);
      const calls = client(service.url);
      while (ids.length < JOBS) {
        const { status, body } = await calls.call('POST', '/api/jobs', { prompt: `Order for job-${ids.length}.` });
        t.equal(status, 201);
        ids.push(body.id);
      }
      await pass(random() * LONGEST_LIFE_MS);
      await service.end('SIGKILL');
    }
    const service = await startServiceProcess(t, home);
    const { call } = client(service.url);
    const recordsOf = () => Promise.all(ids.map(async (id) => (await call('GET', `/api/jobs/${id}`)).body));
    const allEnded = async () => (await recordsOf()).every(({ endedAt }) => endedAt !== null);
    await eventually('every job ends', allEnded, ENDS_MS);
    for (const [index, record] of (await recordsOf()).entries()) {
      t.match(record, { state: 'completed', error: null }, `job-${index} is done`);
      t.equal(orders.get(`job-${index}`), 1, `job-${index} ordered once`);
      const { body: events } = await call('GET', `/api/sessions/${record.id}/events`);
      t.equal(events.match(/event: SessionEnded/g)?.length, 1, `job-${index} ended once`);
    }
    t.comment(`${KILLS} kills, ${model.requests.length} model calls, ${[...orders.values()].length} orders`);
    t.same(await service.end('SIGTERM'), { code: 0, signal: null });
  },
);

/** A page on which an order is one click, counted by its server. */
function openShop(site: Site, orders: Map<string, number>): string {
  site.set('/shop', (request, response) => {
    const job = new URL(request.url ?? '/', site.origin).searchParams.get('job') ?? '';
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(
      `<title>Shop</title><form action=/order><input type=hidden name=job value="${job}"><button>Order</button></form>`,
    );
  });
  site.set('/order', (request, response) => {
    const job = new URL(request.url ?? '/', site.origin).searchParams.get('job') ?? '';
    orders.set(job, (orders.get(job) ?? 0) + 1);
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Thanks</title><button>Again</button>');
  });
  return `${site.origin}/shop`;
}

/** A careful buyer: who is told that an outcome is unknown waits until the page is quiet, and looks before the next step. */
function buyer({ body: { messages } }: ModelRequest, page: string): Turn {
  const job = /job-\d+/.exec(messages[1]?.content ?? '')?.[0] ?? '';
  const last = messages.at(-1)?.content ?? '';
  const made = messages.findLast(({ role }) => role === 'assistant')?.tool_calls?.[0]?.function.arguments ?? '';
  if (made === '') return evaluate(`agent.go('${page}?job=${job}')`);
  if (/not known|<error>/.test(last)) return evaluate(`agent.wait('idle'); agent.look({full: true})`);
  if (last.includes('{button}Again')) return done(true, 'Ordered');
  if (last.includes('{button}Order')) return evaluate(`agent.act('{button}Order', 'click')`);
  return evaluate(`agent.go('${page}?job=${job}')`);
}
