import { tmpdir } from 'node:os';
import t from 'tap';
import { startShop } from '../../examples/shop/shop.mjs';
import { containersUnder } from '../support/docker.js';
import { guardLeaks } from '../support/leaks.js';
import { SEED } from '../support/seed.js';
import { makeHome } from '../support/service.js';
import { seededRandom } from './seeded-random.js';
import { ServiceKills } from './service-kills.js';

guardLeaks(t);

/** `npm run chaos` runs more of them, as CI does. */
const rounds = Number(process.env.TROUPE_CHAOS_ROUNDS ?? 1);
const seed = Number(process.env.TROUPE_CHAOS_SEED ?? SEED);
const driver = process.env.TROUPE_CHAOS_DRIVER ?? 'process';
const long = process.env.TROUPE_CHAOS_ROUNDS !== undefined;
const size = long
  ? driver === 'docker'
    ? { live: 3, jobs: 3, lifeMs: 12_000 }
    : { live: 10, jobs: 10, lifeMs: 20_000 }
  : { live: 1, jobs: 1, lifeMs: 2_500 };

t.test('a service killed at any moment has kept what it said, and does nothing twice', async (t) => {
  const shop = await startShop({ port: 0 });
  t.teardown(() => shop.close());
  const home = makeHome(t, {
    driver,
    forward: [Number(new URL(shop.url).port)],
    maxSessions: 2 * (size.live + size.jobs),
    idleTimeout: 3600,
    warmSessions: long ? 1 : 0,
  });
  const kills = new ServiceKills({ ...size, withPage: long, random: seededRandom(seed), home, shop: shop.url });
  t.teardown(() => kills.stop());
  try {
    for (let round = 1; round <= rounds; round += 1) {
      await kills.round();
      if (long) t.comment(`round ${round}: ${JSON.stringify(kills.counts)}`);
    }
    await kills.finish();
    if (driver === 'docker') t.same(await containersUnder(tmpdir()), [], 'no container is left');
    t.comment(`seed ${seed}: ${JSON.stringify(kills.counts)}`);
    t.pass('all of it holds');
  } catch (error) {
    t.fail(`With seed ${seed} (npm run chaos -- --rounds ${rounds} --seed ${seed} --driver ${driver})`, {
      error: String(error),
    });
  }
});
