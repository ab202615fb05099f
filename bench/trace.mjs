// What does a trace cost a job? Thirty steps in the example shop as a job, without a trace and with one, in turns; what
// counts is the median of the ratios of one round, of the flow's own time. How large the trace is, and how much later
// the artifacts are there, is printed beside it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startShop } from '../examples/shop/shop.mjs';
import { percentile } from './support/percentiles.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';
import { startServiceProcess } from './support/service-process.mjs';
import { SHOP_ANSWER, SHOP_STEPS } from './support/shop-steps.mjs';
import { flowOf } from './support/steps.mjs';

const SIDES = ['off', 'on'];
const WEEK_MS = 7 * 86_400_000;

export async function run({ rounds = 10 } = {}) {
  const date = new Date(Date.now() + WEEK_MS).toISOString().slice(0, 10);
  const shop = await startShop();
  const service = await startServiceProcess({ maxSessions: 1, warmSessions: 0 });
  try {
    mkdirSync(join(service.home, 'flows'), { recursive: true });
    writeFileSync(join(service.home, 'flows', 'order.js'), flowOf(SHOP_STEPS, SHOP_ANSWER));
    const forward = [Number(new URL(shop.url).port)];
    const args = { base: shop.url, date, reference: 'trace' };
    const flowMs = { off: [], on: [] };
    const artifactsMs = { off: [], on: [] };
    let bytes = 0;
    for (let round = -1; round < rounds; round += 1) {
      for (const trace of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
        const job = { prompt: 'x', flowFiles: ['order.js'], maxIterations: 0, forward, args, trace };
        const { id, status, error } = await call(service.url, 'POST', '/api/sessions/run', job, 'json');
        if (status !== 'completed') throw new Error(JSON.stringify(error));
        const askedAt = performance.now();
        const report = await call(service.url, 'GET', `/api/sessions/${id}/report.json`, undefined, 'json');
        const waitedMs = performance.now() - askedAt;
        if (trace === 'on') {
          bytes = (await call(service.url, 'GET', `/api/sessions/${id}/trace`, undefined, 'arrayBuffer')).byteLength;
        }
        if (round < 0) continue;
        flowMs[trace].push(report.flows[0].durationMs);
        artifactsMs[trace].push(waitedMs);
      }
    }
    printHeader();
    for (const side of SIDES) {
      printSamples(`${SHOP_STEPS.length} steps, trace ${side}`, flowMs[side], 'ms');
      printSamples(`until its artifacts are there, trace ${side}`, artifactsMs[side], 'ms');
    }
    console.log(`  the trace has ${Math.round(bytes / 1024)} KiB`);
    const ratios = flowMs.on.map((ms, round) => ms / flowMs.off[round]);
    return [atMost('trace: the flow with one, times without', percentile(ratios, 0.5), 1.3)];
  } finally {
    await service.stop();
    await shop.close();
  }
}

async function call(url, method, path, body, read) {
  const response = await fetch(url + path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  return response[read]();
}
