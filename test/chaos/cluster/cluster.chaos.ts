import t from 'tap';
import { startShop } from '../../../examples/shop/shop.mjs';
import { makeNodes } from '../../cluster/running-nodes.js';
import { openSite } from '../../support/agent-fixture.js';
import { freePorts } from '../../support/free-ports.js';
import { guardLeaks } from '../../support/leaks.js';
import { startModelServer } from '../../support/model-server.js';
import { SEED } from '../../support/seed.js';
import { postgresMissing } from '../../support/test-store.js';
import { buyer, openShop } from '../order-page.js';
import { seededRandom } from '../seeded-random.js';
import { startBalancer } from './balancer.js';
import { ClusterKills, FAULTS } from './cluster-kills.js';
import { Relay } from './relay.js';

guardLeaks(t);

const rounds = Number(process.env.TROUPE_CHAOS_ROUNDS ?? 1);
const seed = Number(process.env.TROUPE_CHAOS_SEED ?? SEED);
/** 1: the times that nodes have by default. */
const leaseFactor = Number(process.env.TROUPE_CHAOS_LEASE ?? 0.1);
const IDS = ['a', 'b', 'c'];

/** Orders unless it finds that it has ordered: it may run again. */
const BUY_ONCE = `(args) => {
  agent.go(args.base + '/api/orders?reference=' + args.reference);
  if (agent.text('body').trim() === '[]') Flow.run('examples/buy', args);
}`;

t.test(
  'whatever happens to nodes, nothing is lost and nothing is doubled',
  { skip: await postgresMissing() },
  async (t) => {
    const shop = await startShop({ port: 0 });
    t.teardown(() => shop.close());
    const orders = new Map<string, number>();
    const page = openShop(await openSite(t), orders);
    const model = await startModelServer(t, (request) => buyer(request, page));
    const free = await freePorts(2 * IDS.length);
    const places = IDS.map((id, index) => ({ id, own: free[2 * index] ?? 0, reached: free[2 * index + 1] ?? 0 }));
    const relays = new Map<string, Relay>();
    for (const { id, own, reached } of places) {
      const relay = await Relay.open(reached, own);
      t.teardown(() => relay.close());
      relays.set(id, relay);
    }
    const balancer = await startBalancer(places.map(({ own }) => own));
    t.teardown(() => balancer.stop());
    const ports = new Map(places.map((place) => [place.id, place]));
    const nodes = await makeNodes(t, { leaseFactor, ports, flows: { 'buy-once.js': BUY_ONCE } });
    const settings = {
      maxSessions: 3,
      drainTimeout: 20,
      idleTimeout: 30,
      models: ['scripted/m'],
      providers: { scripted: { baseURL: model.baseURL } },
    };
    const kills = new ClusterKills({
      ...{ nodes, ids: IDS, relays, leaseFactor, settings, balancer },
      ...{ random: seededRandom(seed), orders, shop: shop.url, page },
    });
    t.teardown(() => kills.heal());
    const faults = Array.from({ length: rounds }, (_, round) => FAULTS[(round + seed) % FAULTS.length] ?? 'kill');
    let now = 'the start';
    try {
      await kills.start();
      for (const [round, fault] of faults.entries()) {
        now = `round ${round + 1}, ${fault}`;
        const startedAt = performance.now();
        await kills.round(fault);
        const seconds = Math.round((performance.now() - startedAt) / 1000);
        t.comment(`${now}, ${seconds} s: ${JSON.stringify({ ...kills.counts, ...kills.load.counts })}`);
      }
      t.comment(`seed ${seed}, ${balancer.name}: ${JSON.stringify(kills.counts)}`);
      t.pass('all of it holds');
    } catch (error) {
      t.fail(`With seed ${seed} (npm run chaos -- --kind cluster --rounds ${rounds} --seed ${seed}), ${now}`, {
        error: String(error),
        output: kills.output(),
      });
    }
  },
);
