import t from 'tap';
import { runningBrowsers } from '../support/browsers.js';
import { guardLeaks } from '../support/leaks.js';
import { SEED } from '../support/seed.js';
import { makeHome } from '../support/service.js';
import { PageKills, TARGETS } from './page-kills.js';
import { seededRandom } from './seeded-random.js';

guardLeaks(t);

/** `npm run chaos -- --kind page` runs more of them. */
const rounds = Number(process.env.TROUPE_CHAOS_ROUNDS ?? TARGETS.length);
const seed = Number(process.env.TROUPE_CHAOS_SEED ?? SEED);

t.test('whatever is killed under scripts that use page, sessions keep what they answered', async (t) => {
  const sessions = process.env.TROUPE_CHAOS_ROUNDS === undefined ? 2 : 4;
  const home = makeHome(t, { driver: 'process', maxSessions: sessions, idleTimeout: 3600 });
  const random = seededRandom(seed);
  const kills = new PageKills({ sessions, random, home });
  t.teardown(() => kills.stop());
  // Each target as often as the others, in a random order.
  const targets = Array.from({ length: rounds }, (_, round) => ({
    target: TARGETS[round % TARGETS.length],
    at: random(),
  }))
    .sort((one, other) => one.at - other.at)
    .flatMap(({ target }) => target ?? []);
  try {
    await kills.run(targets);
    t.same(runningBrowsers(), [], 'no browser is left');
    t.comment(`seed ${seed}: ${JSON.stringify(kills.counts)}`);
    t.pass('all of it holds');
  } catch (error) {
    t.fail(`With seed ${seed} (npm run chaos -- --kind page --rounds ${rounds} --seed ${seed})`, {
      error: String(error),
    });
  }
});
