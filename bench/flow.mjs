// How long does a flow of thirty steps take? The same steps, on the same pages, by a Playwright script in a browser of its
// own: two pages, a list that the page fills in later, fields, selects, boxes, and what stands there in the end.
import { mkdirSync, writeFileSync } from 'node:fs';
import { percentile } from './support/percentiles.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';
import { byPlaywright, flowOf } from './support/steps.mjs';
import { ANSWER, ORDERED, PAGES, STEPS } from './support/thirty-steps.mjs';
import { openTwoBrowsers } from './support/two-browsers.mjs';

export async function run({ rounds = 10 } = {}) {
  const { origin, run: script, playwright, flowsDir, close } = await openTwoBrowsers(PAGES);
  try {
    mkdirSync(flowsDir, { recursive: true });
    writeFileSync(`${flowsDir}/order.js`, flowOf(STEPS, ANSWER));
    const sides = {
      flow: async () => {
        const startedAt = performance.now();
        const value = await script(`Flow.run('order', { base: '${origin}' })`);
        return { value, ms: performance.now() - startedAt };
      },
      Playwright: () => playwright.run(byPlaywright, STEPS, { base: origin }, ANSWER),
    };
    const samples = { flow: [], Playwright: [] };
    // The first round only warms up.
    for (let round = 0; round <= rounds; round += 1) {
      for (const side of round % 2 === 0 ? ['flow', 'Playwright'] : ['Playwright', 'flow']) {
        const { value, ms } = await sides[side]();
        if (value !== ORDERED) throw new Error(`${side} ended with ${value}`);
        if (round > 0) samples[side].push(ms);
      }
    }
    printHeader();
    for (const side of ['flow', 'Playwright']) printSamples(`${STEPS.length} steps: ${side}`, samples[side], 'ms');
    const ratio = percentile(samples.flow, 0.5) / percentile(samples.Playwright, 0.5);
    return [atMost(`flow: ${STEPS.length} steps p50, times a Playwright script`, ratio, 0.5)];
  } finally {
    await close();
  }
}
