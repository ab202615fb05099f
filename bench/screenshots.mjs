// What do the pictures of its steps cost a flow? The same steps in the example shop, in browsers of their own: without
// pictures, with those that every job has, and by a Playwright script that records a trace with screenshots, beside itself
// without. Rounds in turns; what counts is the median of the ratios of one round.
import { mkdirSync, writeFileSync } from 'node:fs';
import { startShop } from '../examples/shop/shop.mjs';
import { percentile } from './support/percentiles.mjs';
import { atLeast, atMost, printHeader, printSamples } from './support/print.mjs';
import { SHOP_ANSWER, SHOP_STEPS, SHOP_TOTAL } from './support/shop-steps.mjs';
import { byPlaywright, flowOf } from './support/steps.mjs';
import { openPicturedBrowsers } from './support/two-browsers.mjs';

const SIDES = ['off', 'on', 'Playwright', 'Playwright, trace'];
const WEEK_MS = 7 * 86_400_000;

export async function run({ rounds = 10 } = {}) {
  const date = new Date(Date.now() + WEEK_MS).toISOString().slice(0, 10);
  const shop = await startShop();
  const { flowsDir, folder, playwright, close, ...ours } = await openPicturedBrowsers();
  try {
    mkdirSync(flowsDir, { recursive: true });
    writeFileSync(`${flowsDir}/order.js`, flowOf(SHOP_STEPS, SHOP_ANSWER));
    const args = { base: shop.url, date, reference: 'pictures' };
    const byFlow = async ({ run: script, agent }) => {
      const startedAt = performance.now();
      const value = await script(`Flow.run('order', ${JSON.stringify(args)})`);
      const ms = performance.now() - startedAt;
      await agent.settle();
      return { value, ms };
    };
    const byScript = () => playwright.run(byPlaywright, SHOP_STEPS, args, SHOP_ANSWER);
    const traced = async () => {
      await playwright.run(async (page) => {
        await page.context().tracing.start({ screenshots: true, snapshots: true });
      });
      try {
        return await byScript();
      } finally {
        await playwright.run((page, path) => page.context().tracing.stop({ path }), `${folder}/trace.zip`);
      }
    };
    const samples = Object.fromEntries(SIDES.map((side) => [side, []]));
    // The first rounds only warm up.
    for (let round = -2; round < rounds; round += 1) {
      for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
        const work = { Playwright: byScript, 'Playwright, trace': traced }[side] ?? (() => byFlow(ours[side]));
        const { value, ms } = await work();
        if (value !== SHOP_TOTAL) throw new Error(`${side} ended with ${value}`);
        if (round >= 0) samples[side].push(ms);
      }
    }
    printHeader();
    for (const side of SIDES) printSamples(`${SHOP_STEPS.length} steps: ${side}`, samples[side], 'ms');
    const times = (side, bare) =>
      percentile(
        samples[side].map((ms, round) => ms / samples[bare][round]),
        0.5,
      );
    console.log(`  the flow with them, times without: ${times('on', 'off').toFixed(2)}`);
    console.log(`  a Playwright trace, times without: ${times('Playwright, trace', 'Playwright').toFixed(2)}`);
    const steps = ours.on.events.filter(({ type }) => type === 'StepFinished');
    const shown = steps.filter(({ data }) => data.screenshot !== null).length / steps.length;
    return [
      atMost('screenshots: the flow with them, times Playwright with a trace', times('on', 'Playwright, trace'), 0.75),
      atLeast('screenshots: steps that have one', shown, 1),
    ];
  } finally {
    await close();
    await shop.close();
  }
}
