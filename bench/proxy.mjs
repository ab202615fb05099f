// How long does a script take from the request to its answer, and how many can be asked for? `{js: "1+1"}`: all that the
// service adds to a script, and nothing of the browser. Beside it Fastify answers the same requests with their own body.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { benchService } from './support/bench-service.mjs';
import { HttpLoad } from './support/http-load.mjs';
import { percentile } from './support/percentiles.mjs';
import { atLeast, atMost, printHeader, printSamples } from './support/print.mjs';

const CLIENTS = 32;
const TURN_MS = 2_000;
const WARM_UP_SCRIPTS = 1_000;
const BODY = JSON.stringify({ js: '1+1' });

export async function run({ rounds = 5 } = {}) {
  const service = await benchService({ maxSessions: CLIENTS });
  const echo = new Worker(new URL('./support/fastify-echo.thread.mjs', import.meta.url));
  const load = new HttpLoad();
  try {
    const [echoPort] = await once(echo, 'message');
    const ids = await service.live(CLIENTS);
    const at = (port) => ids.map((id) => ({ port, path: `/sessions/${id}/proxy`, body: BODY }));
    const alone = [];
    const crowd = [];
    const rates = { troupe: [], fastify: [] };
    const costs = { alone: [], troupe: [], fastify: [] };
    // The engines of a session that is used for a while are warm: so many scripts each.
    await load.run(at(service.port), TURN_MS, WARM_UP_SCRIPTS * CLIENTS);
    await load.run(at(echoPort), TURN_MS);
    for (let round = 0; round < rounds; round += 1) {
      const one = await load.run(at(service.port).slice(0, 1), TURN_MS);
      const many = await load.run(at(service.port), TURN_MS);
      const echoed = await load.run(at(echoPort), TURN_MS);
      alone.push(...one.samples);
      costs.alone.push(one.costUs);
      crowd.push(...many.samples);
      rates.troupe.push(many.perSecond);
      rates.fastify.push(echoed.perSecond);
      costs.troupe.push(many.costUs);
      costs.fastify.push(echoed.costUs);
    }
    printHeader();
    printSamples('1 client', alone, 'ms');
    printSamples(`${CLIENTS} clients, ${CLIENTS} sessions`, crowd, 'ms');
    printSamples(`${CLIENTS} clients: scripts`, rates.troupe, 'requests/s');
    printSamples(`${CLIENTS} clients: Fastify's echo`, rates.fastify, 'requests/s');
    printSamples('1 client: processor time each', costs.alone, 'us');
    printSamples('  processor time each', costs.troupe, 'us');
    printSamples('  processor time each, Fastify', costs.fastify, 'us');
    const median = (samples) => percentile(samples, 0.5);
    return [
      atMost('proxy: p50 at 1 client, ms', median(alone), 0.5),
      atLeast(`proxy: requests/s, times Fastify's echo`, median(rates.troupe) / median(rates.fastify), 0.12),
      atMost(`proxy: p99 at ${CLIENTS} clients, ms`, percentile(crowd, 0.99), 20),
    ];
  } finally {
    await Promise.all([load.close(), echo.terminate()]);
    await service.stop();
  }
}
