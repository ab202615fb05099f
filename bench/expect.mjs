// What does a check cost on a page that is right at once? Asked beside a look at the same page, where nothing has changed since
// the look before: the cheapest one.
import * as lookPages from './support/look-pages.mjs';
import { percentile } from './support/percentiles.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';
import { openTwoBrowsers } from './support/two-browsers.mjs';

const PAGES = { form: lookPages.form, grid: lookPages.grid, controls: lookPages.controls, article: lookPages.article };
/** Checks and looks of a page in each round, one and one. */
const REPEATS = 20;

export async function run({ rounds = 5 } = {}) {
  const marked = Object.entries(PAGES).map(([name, html]) => [`/${name}`, `${html}<p id=right>All right</p>`]);
  const browsers = await openTwoBrowsers(Object.fromEntries(marked));
  try {
    printHeader();
    const targets = [];
    for (const name of Object.keys(PAGES)) targets.push(await comparePage(browsers, name, rounds));
    return targets;
  } finally {
    await browsers.close();
  }
}

async function comparePage({ origin, agent }, name, rounds) {
  const call = (method, ...args) => agent.module.calls[method](args, callContext());
  const times = { check: [], look: [] };
  // The first round only warms up.
  for (let round = 0; round <= rounds; round += 1) {
    await call('go', `${origin}/${name}`);
    const seen = await call('look', { full: true });
    const timed = async (key, work) => {
      const startedAt = performance.now();
      await work();
      if (round > 0) times[key].push(performance.now() - startedAt);
    };
    for (let nth = 0; nth < REPEATS; nth += 1) {
      const pair = [
        () => timed('look', () => call('look', null, seen.id)),
        () => timed('check', () => call('expect', '#right', 'toHaveText', { not: false, values: ['All right'] })),
      ];
      // Each as often right after the other.
      for (const one of nth % 2 === 0 ? pair : pair.reverse()) await one();
    }
  }
  printSamples(`${name}: unchanged look`, times.look, 'ms');
  printSamples(`${name}: check that passes at once`, times.check, 'ms');
  const [check, look] = [times.check, times.look].map((samples) => percentile(samples, 0.5));
  return atMost(`expect: ${name}, times an unchanged look`, check / look, 1.2);
}

function callContext() {
  const deadline = performance.now() + 60_000;
  const site = { kind: 'script', flow: null, line: 1, column: 1 };
  return { remainingMs: () => deadline - performance.now(), signal: new AbortController().signal, site };
}
