// How many flows a minute does a farm run, and is all of it accounted for? Jobs of thirty steps on the example shop through
// one service, a fresh browser for each, in turns with the same steps as a suite of Playwright Test with as many workers.
// `--rounds` is the number of jobs; the suite has as many, and 40 a turn at most: that is enough to know its pace.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '#troupe/config.js';
import { findChromium } from '#troupe/containers/chromium/chromium-binary.js';
import { startShop } from '../examples/shop/shop.mjs';
import { playwrightTest } from './support/playwright-test.mjs';
import { atLeast, atMost } from './support/print.mjs';
import { holdings } from './support/process-holdings.mjs';
import { startServiceProcess } from './support/service-process.mjs';
import { SHOP_ANSWER, SHOP_STEPS, SHOP_TOTAL } from './support/shop-steps.mjs';
import { flowOf } from './support/steps.mjs';

const WORKERS = 4;
const TURNS = 4;
const SUITE_MOST = 40;
const LOOK_MS = 250;
/** Threads that make reports end when they have had nothing to do for 10 s. */
const CALM_MS = 12_000;
const DAY_MS = 86_400_000;

export async function run({ rounds = 80 } = {}) {
  const date = new Date(Date.now() + 7 * DAY_MS).toISOString().slice(0, 10);
  const shop = await startShop();
  const service = await startServiceProcess({ maxSessions: WORKERS, warmSessions: 0 });
  const suite = await suiteOf(shop.url, date);
  try {
    const flows = join(service.home, 'flows');
    mkdirSync(flows, { recursive: true });
    writeFileSync(join(flows, 'order.js'), flowOf(SHOP_STEPS, SHOP_ANSWER));
    const orderOf = (reference) => ({
      prompt: 'order',
      flowFiles: ['order.js'],
      maxIterations: 0,
      forward: [Number(new URL(shop.url).port)],
      args: { base: shop.url, date, reference },
    });
    const ours = { passed: 0, seconds: 0 };
    const theirs = { passed: 0, seconds: 0 };
    const held = [];
    // What a service holds that has not worked yet, and how long its first job takes, says little.
    await runBatch(
      service,
      Array.from({ length: WORKERS }, () => orderOf('warm-up')),
    );
    await suite.run(WORKERS);
    held.push(await holdings(service, CALM_MS));
    console.log(`  flows a minute, ${WORKERS} at once, by turns: ${service.driver} driver, ${suite.name}`);
    for (let turn = 0; turn < TURNS; turn += 1) {
      const jobs = Array.from({ length: share(rounds, turn) }, (_, n) => orderOf(`ours-${turn}-${n}`));
      const sides = [
        async () => add(ours, await runBatch(service, jobs)),
        async () => add(theirs, await suite.run(Math.min(jobs.length, SUITE_MOST))),
      ];
      const [our, their] = turn % 2 === 0 ? await inTurn(sides) : (await inTurn(sides.reverse())).reverse();
      console.log(`  ${[our, their].map((one) => perMinute(one).toFixed(1).padStart(8)).join('')}`);
      if (turn === 0) held.push(await holdings(service, CALM_MS));
    }
    held.push(await holdings(service, CALM_MS));
    const orders = await (await fetch(`${shop.url}/api/orders`)).json();
    const placed = new Map();
    for (const { reference } of orders) placed.set(reference, (placed.get(reference) ?? 0) + 1);
    const once = [...placed].filter(([reference, times]) => reference.startsWith('ours-') && times === 1).length;
    const [first, second, last] = held;
    console.log(
      `  the service after ${WORKERS}, ${share(rounds, 0)} and ${rounds} jobs: ${held.map(describe).join('; ')}`,
    );
    const wanted = service.driver === 'docker' ? 0.5 : 0.85;
    return [
      atLeast('farm: flows a minute, times those of Playwright Test', perMinute(ours) / perMinute(theirs), wanted),
      atLeast('farm: jobs that completed and placed one order each, of all', Math.min(ours.passed, once) / rounds, 1),
      atMost('farm: memory of the service in the end, times that after a quarter', last.bytes / second.bytes, 1.25),
      atMost('farm: files and threads more than after the first jobs', last.handles - first.handles, 5),
      atMost('farm: browsers that are left of jobs', last.browsers, 0),
    ];
  } finally {
    suite.close();
    await service.stop();
    await shop.close();
  }
}

async function suiteOf(base, date) {
  const found = await findChromium({
    configured: process.env.TROUPE_CHROMIUM,
    cacheDir: join(readConfig({}).home, 'cache'),
  });
  const args = { base, date, reference: 'theirs-$n' };
  const flow = { steps: SHOP_STEPS, answer: SHOP_ANSWER, expected: SHOP_TOTAL, args };
  return playwrightTest({ workers: WORKERS, executablePath: found.path, flow });
}

/** Of `total`, what comes in this turn. */
function share(total, turn) {
  return Math.floor((total * (turn + 1)) / TURNS) - Math.floor((total * turn) / TURNS);
}

/** From the call that submits the jobs until the last one has ended. */
async function runBatch(service, jobs) {
  const startedAt = performance.now();
  const { links } = await service.call('POST', '/api/batches', { jobs });
  for (;;) {
    const { counts, endedAt } = await service.call('GET', links.self);
    if (endedAt !== null) {
      const seconds = (performance.now() - startedAt) / 1_000;
      if (counts.completed < counts.total) await printFirstFailure(service);
      return { passed: counts.completed, seconds };
    }
    await pause(LOOK_MS);
  }
}

async function printFirstFailure(service) {
  const [one] = await service.call('GET', '/api/sessions?state=failed&limit=1');
  console.log(`  not completed: ${JSON.stringify(one?.error)}`);
}

async function inTurn(sides) {
  const outcomes = [];
  for (const side of sides) outcomes.push(await side());
  return outcomes;
}

function add(sum, outcome) {
  sum.passed += outcome.passed;
  sum.seconds += outcome.seconds;
  return outcome;
}

function perMinute({ passed, seconds }) {
  return (passed / seconds) * 60;
}

function describe({ bytes, handles }) {
  return `${(bytes / 1024 ** 2).toFixed(0)} MB, ${handles} files and threads`;
}
