// What does each of the two HTTP servers cost, uWebSockets.js and node:http? The same service behind either, beside Fastify:
// GET /api/health, a script `1+1` in 32 sessions, and lines of one session to a hundred viewers.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { chooseServer } from '#troupe/gateway/choose-server.js';
import { benchService } from './support/bench-service.mjs';
import { HttpLoad } from './support/http-load.mjs';
import { percentile } from './support/percentiles.mjs';
import { plainStream } from './support/plain-stream.mjs';
import { atLeast, atMost, printHeader, printSamples } from './support/print.mjs';
import { streamViewers } from './support/stream-viewers.mjs';

const CLIENTS = 32;
const VIEWERS = 100;
/** Short turns, and ratios of those beside each other: what else the machine does meets all alike. */
const TURN_MS = 500;
const WARM_UP_MS = 2_000;
const WARM_UP_SCRIPTS = 1_000;
const LINES_A_SECOND = 50;
const LISTEN_MS = 3_000;
const SCRIPT = JSON.stringify({ js: '1+1' });
const NAMES = { uws: 'uWebSockets.js', node: 'node:http' };

export async function run({ rounds = 15 } = {}) {
  const fastest = await chooseServer();
  if (fastest.name === 'node') console.log(`  without uWebSockets.js: ${fastest.fallbackReason}`);
  const servers = fastest.name === 'node' ? ['node'] : ['uws', 'node'];
  const services = [];
  const echo = new Worker(new URL('./support/fastify-echo.thread.mjs', import.meta.url));
  const load = new HttpLoad();
  const viewers = await streamViewers();
  try {
    const [echoPort] = await once(echo, 'message');
    for (const server of servers) {
      const service = await benchService({ server, maxSessions: CLIENTS + 1 });
      services.push(service);
      const ids = await service.live(CLIENTS + 1);
      services[services.length - 1] = { ...service, server, ids };
    }
    const requests = await measureRequests(rounds, { services, echoPort, load });
    const streams = await measureStreams(Math.ceil(rounds / 5), { services, viewers });
    return [...requests, ...streams];
  } finally {
    await Promise.all([load.close(), echo.terminate(), viewers.close()]);
    for (const service of services) await service.stop();
  }
}

async function measureRequests(rounds, { services, echoPort, load }) {
  const ids = services[0].ids.slice(0, CLIENTS);
  const scriptsOf = (port, of = ids) => of.map((id) => ({ port, path: `/sessions/${id}/proxy`, body: SCRIPT }));
  const healthOf = (port) => ids.map(() => ({ port, path: '/api/health' }));
  const kinds = {
    fastify: { name: 'Fastify', health: healthOf(echoPort), scripts: scriptsOf(echoPort) },
  };
  for (const { server, port, ids: own } of services) {
    kinds[server] = { name: NAMES[server], health: healthOf(port), scripts: scriptsOf(port, own.slice(0, CLIENTS)) };
  }
  const seen = {};
  for (const [kind, { health, scripts }] of Object.entries(kinds)) {
    seen[kind] = { health: { ms: [], rate: [], cost: [] }, scripts: { ms: [], rate: [], cost: [] } };
    // The engines of a session that is used for a while are warm.
    await load.run(scripts, WARM_UP_MS, kind === 'fastify' ? 0 : WARM_UP_SCRIPTS * CLIENTS);
    await load.run(health, WARM_UP_MS);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const what of ['health', 'scripts']) {
      const order = Object.keys(kinds);
      for (const kind of round % 2 === 0 ? order : order.reverse()) {
        const { samples, perSecond, costUs } = await load.run(kinds[kind][what], TURN_MS);
        seen[kind][what].ms.push(...samples);
        seen[kind][what].rate.push(perSecond);
        seen[kind][what].cost.push(costUs);
      }
    }
  }
  printHeader();
  for (const [what, title] of Object.entries({ health: 'GET /api/health', scripts: 'script 1+1' })) {
    for (const [kind, { name }] of Object.entries(kinds)) {
      printSamples(`${title}, ${name}`, seen[kind][what].ms, 'ms');
      printSamples('  requests', seen[kind][what].rate, 'requests/s');
      printSamples('  processor time each, load included', seen[kind][what].cost, 'us');
    }
  }
  const ratio = (kind, what) =>
    median(seen[kind][what].rate.map((rate, round) => rate / seen.fastify[what].rate[round]));
  const targets = [];
  for (const { server } of services) {
    console.log(`  script 1+1, ${NAMES[server]}, times Fastify's echo: ${ratio(server, 'scripts').toFixed(2)}`);
    const least = server === 'uws' ? 1 : 0.6;
    targets.push(atLeast(`server: GET /api/health, ${NAMES[server]}, times Fastify`, ratio(server, 'health'), least));
  }
  return targets;
}

/** Lines of one session to many viewers; Fastify's side is the package that its plugin for WebSockets has, ws. */
async function measureStreams(rounds, { services, viewers }) {
  const turns = {};
  for (const { server, port, ids, script } of services) {
    const id = ids.at(-1);
    const asked = Array.from({ length: VIEWERS }, () => [{ type: 'watchSession', id, after: Number.MAX_SAFE_INTEGER }]);
    turns[server] = {
      name: NAMES[server],
      open: () => viewers.open(`ws://127.0.0.1:${port}/api/stream`, asked),
      tell: () => tell(script, id),
      close: async () => undefined,
    };
  }
  let stream;
  turns.ws = {
    name: 'ws in plain Node',
    async open() {
      stream = await plainStream();
      await viewers.open(
        stream.url,
        Array.from({ length: VIEWERS }, () => []),
      );
    },
    tell: () => stream.tell(LINES_A_SECOND, VIEWERS),
    close: () => stream.close(),
  };
  const seen = Object.fromEntries(Object.keys(turns).map((kind) => [kind, { late: [], cpu: [] }]));
  for (let round = 0; round < rounds; round += 1) {
    const order = Object.keys(turns);
    for (const kind of round % 2 === 0 ? order : order.reverse()) {
      const { open, tell: start, close } = turns[kind];
      await open();
      const stop = start();
      await pause(500);
      await viewers.samples();
      const before = process.cpuUsage();
      await pause(LISTEN_MS);
      const { user, system } = process.cpuUsage(before);
      const { late } = await viewers.samples();
      for (const one of late) seen[kind].late.push(one);
      seen[kind].cpu.push((user + system) / LISTEN_MS);
      await stop();
      await viewers.leave();
      await close();
    }
  }
  printHeader();
  for (const [kind, { name }] of Object.entries(turns)) {
    printSamples(`${VIEWERS} viewers, ${name}: late by`, seen[kind].late, 'ms');
    printSamples('  processor time a second', seen[kind].cpu, 'ms');
  }
  for (const { server } of services) {
    const times = (part) => percentile(seen[server].late, part) / percentile(seen.ws.late, part);
    const cpu = median(seen[server].cpu) / median(seen.ws.cpu);
    console.log(
      `  ${VIEWERS} viewers, ${NAMES[server]}, times ws: p50 ${times(0.5).toFixed(2)}, p99 ${times(0.99).toFixed(2)}, processor time ${cpu.toFixed(2)}`,
    );
  }
  return services.map(({ server }) =>
    atMost(
      `server: p99 of lateness, ${VIEWERS} viewers, ${NAMES[server]}, ms`,
      percentile(seen[server].late, 0.99),
      100,
    ),
  );
}

/** Has the session write its lines. Answers what awaits the last. */
function tell(script, id) {
  const everyMs = 1_000 / LINES_A_SECOND;
  const count = Math.ceil((LISTEN_MS + 1_500) / everyMs);
  const line = `console.log('x'.repeat(200)); agent.wait(${everyMs})`;
  const end = script(id, `for (let n = 0; n < ${count}; n += 1) { ${line} }`);
  return () => end;
}

function median(samples) {
  return percentile(samples, 0.5);
}
