import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { hasAllCases } from '../support/sampled.js';
import { SEED } from '../support/seed.js';
import type { Mutation } from './model-store.js';
import { simulate } from './simulation.js';

guardLeaks(t);

const ALL = 100_000;
const SAMPLE = 300;
/** Found by each mutation within these many schedules of the sample. */
const MUTATED = 2_000;

/** The nightly job runs all, in parts, so that an interrupted run goes on. */
const part = hasAllCases ? Number(process.env.TROUPE_ROUND ?? '1') : 0;
const seeds = part > 0 ? { from: (part - 1) * (ALL / 10), count: ALL / 10 } : { from: SEED, count: SAMPLE };

t.test('no schedule of faults loses, doubles or forks a session', async (t) => {
  let sessions = 0;
  for (let seed = seeds.from; seed < seeds.from + seeds.count; seed += 1) {
    const outcome = simulate(seed);
    sessions += outcome.sessions;
    if (outcome.violations.length > 0) t.fail(`seed ${seed}: ${outcome.violations.join('; ')}`);
  }
  t.ok(sessions > seeds.count, `${sessions} sessions in ${seeds.count} schedules`);
});

const mutations: readonly Mutation[] = ['token-check', 'renewal-bound', 'sweep-guard', 'nonce'];
for (const mutation of mutations) {
  t.test(`the simulation fails without this rule: ${mutation}`, async (t) => {
    for (let seed = 0; seed < MUTATED; seed += 1) {
      const { violations } = simulate(seed, mutation);
      if (violations.length > 0) return t.comment(`seed ${seed}: ${violations[0]}`);
    }
    t.fail('no schedule noticed');
  });
}
