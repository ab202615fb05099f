// What do the pictures of its steps cost a flow? The same thirty steps in two browsers, one of which has a picture of every
// step as jobs have.
import { mkdirSync, writeFileSync } from 'node:fs';
import { percentile } from './support/percentiles.mjs';
import { atLeast, atMost, printHeader, printSamples } from './support/print.mjs';
import { flowOf } from './support/steps.mjs';
import { ANSWER, ORDERED, PAGES, STEPS } from './support/thirty-steps.mjs';
import { openPicturedBrowsers } from './support/two-browsers.mjs';

export async function run({ rounds = 20 } = {}) {
  const { origin, flowsDir, close, ...sides } = await openPicturedBrowsers(PAGES);
  try {
    mkdirSync(flowsDir, { recursive: true });
    writeFileSync(`${flowsDir}/order.js`, flowOf(STEPS, ANSWER));
    const samples = { pictured: [], bare: [] };
    // The first rounds only warm up.
    for (let round = -2; round < rounds; round += 1) {
      for (const side of round % 2 === 0 ? ['pictured', 'bare'] : ['bare', 'pictured']) {
        const startedAt = performance.now();
        const said = await sides[side].run(`Flow.run('order', { base: '${origin}' })`);
        if (said !== ORDERED) throw new Error(`${side} ended with ${said}`);
        if (round >= 0) samples[side].push(performance.now() - startedAt);
        await sides[side].agent.settle();
      }
    }
    printHeader();
    for (const side of ['pictured', 'bare']) printSamples(`${STEPS.length} steps: ${side}`, samples[side], 'ms');
    const steps = sides.pictured.events.filter(({ type }) => type === 'StepFinished');
    const shown = steps.filter(({ data }) => data.screenshot !== null).length / steps.length;
    const ratio = percentile(samples.pictured, 0.5) / percentile(samples.bare, 0.5);
    return [
      atMost('screenshots: the flow with them, times without', ratio, 1.1),
      atLeast('screenshots: steps that have one', shown, 1),
    ];
  } finally {
    await close();
  }
}
