// What do those who watch cost? A hundred pages on one session, one page on each of a hundred sessions, and a thousand that
// only wait; how late each line arrives, and whether a session that nobody watches feels it. Beside it the same lines to the
// same hundred pages from `ws` in plain Node.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Packr } from 'msgpackr';
import { WebSocketServer } from 'ws';
import { benchService } from './support/bench-service.mjs';
import { HttpLoad } from './support/http-load.mjs';
import { percentile } from './support/percentiles.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';
import { streamViewers } from './support/stream-viewers.mjs';

const VIEWERS = 100;
const SESSIONS = 100;
const IDLE = 1_000;
const LINES_A_SECOND = 50;
const TURN_MS = 2_000;
const SETTLE_MS = 500;

export async function run({ rounds = 5 } = {}) {
  const service = await benchService({ maxSessions: SESSIONS + 1 });
  const viewers = await streamViewers();
  const load = new HttpLoad();
  const url = `ws://127.0.0.1:${service.port}/api/stream`;
  try {
    const idleBytes = await idleCost(viewers, url);
    const [quiet, ...ids] = await service.live(SESSIONS + 1);
    const neighbour = { port: service.port, path: `/sessions/${quiet}/proxy`, body: JSON.stringify({ js: '1+1' }) };
    const watch = (id) => ({ type: 'watchSession', id, after: Number.MAX_SAFE_INTEGER });
    await load.run([neighbour], TURN_MS, 2_000);
    const kinds = {
      nobody: { ids: [ids[0]], requests: [] },
      [`${VIEWERS} on one`]: { ids: [ids[0]], requests: Array.from({ length: VIEWERS }, () => watch(ids[0])) },
      [`one on each of ${SESSIONS}`]: { ids, requests: ids.map(watch) },
    };
    const seen = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, measures()]));
    const peer = { nobody: measures(), all: measures() };
    const measured = async (kind, into) => {
      const { ids: told, requests } = kinds[kind];
      await viewers.open(url, requests);
      await turn(
        into,
        viewers,
        () => tell(service.port, told),
        () => load.run([neighbour], TURN_MS),
      );
      await viewers.leave();
    };
    // Nothing is compiled yet.
    for (const kind of Object.keys(kinds)) await measured(kind, measures());
    for (let round = 0; round < rounds; round += 1) {
      for (const kind of Object.keys(kinds)) await measured(kind, seen[kind]);
      await plainTurn(peer.nobody, viewers, 0);
      await plainTurn(peer.all, viewers, VIEWERS);
    }
    printHeader();
    for (const [kind, { late, cpu, beside }] of Object.entries(seen)) {
      if (late.length > 0) printSamples(`${kind}: a line is late by`, late, 'ms');
      printSamples(`${kind}: processor time a second`, cpu, 'ms');
      printSamples(`${kind}: a script next door`, beside, 'ms');
    }
    printSamples(`ws in plain Node, ${VIEWERS} on one: a line is late by`, peer.all.late, 'ms');
    printSamples(`ws in plain Node, ${VIEWERS} on one: processor time a second`, peer.all.cpu, 'ms');
    const [nobody, crowd, each] = Object.values(seen);
    const median = (samples) => percentile(samples, 0.5);
    const p99 = (samples) => percentile(samples, 0.99);
    const fanOut = median(crowd.cpu) - median(nobody.cpu);
    const plainFanOut = median(peer.all.cpu) - median(peer.nobody.cpu);
    return [
      atMost(`stream: p99 of lateness, ${VIEWERS} viewers on one session, ms`, p99(crowd.late), 100),
      atMost(`stream: p99 of lateness, one viewer on each of ${SESSIONS} sessions, ms`, p99(each.late), 100),
      atMost(
        `stream: a neighbour's p99 beside ${VIEWERS} viewers, times without`,
        median(crowd.besideP99) / median(nobody.besideP99),
        1.2,
      ),
      atMost(`stream: processor time of ${VIEWERS} viewers, times ws in plain Node`, fanOut / plainFanOut, 1),
      atMost('stream: memory of an idle WebSocket, KiB', idleBytes / 1024, 16),
    ];
  } finally {
    await Promise.all([viewers.close(), load.close()]);
    await service.stop();
  }
}

function measures() {
  return { late: [], cpu: [], beside: [], besideP99: [] };
}

/** Lines are told for a while: first with nothing else, whose processor time counts, then beside a neighbour's scripts. */
async function turn(into, viewers, tellLines, besideThem) {
  const stop = tellLines();
  await pause(SETTLE_MS);
  await viewers.samples();
  into.cpu.push(await cpuOf(() => pause(TURN_MS)));
  into.late.push(...(await viewers.samples()));
  if (besideThem !== null) {
    const { samples } = await besideThem();
    into.beside.push(...samples);
    into.besideP99.push(percentile(samples, 0.99));
  }
  await stop();
}

/** Milliseconds of processor time a second. */
async function cpuOf(work) {
  const before = process.cpuUsage();
  const startedAt = performance.now();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (performance.now() - startedAt);
}

/** Has the sessions write their lines, one after another. Answers what ends that. */
function tell(port, ids) {
  let next = 0;
  const underWay = new Set();
  const body = JSON.stringify({ js: `console.log('x'.repeat(200))` });
  const timer = setInterval(() => {
    const path = `/sessions/${ids[next++ % ids.length]}/proxy`;
    const sent = fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body }).then((answer) => answer.text());
    underWay.add(sent);
    void sent.finally(() => underWay.delete(sent));
  }, 1_000 / LINES_A_SECOND);
  return async () => {
    clearInterval(timer);
    await Promise.all(underWay);
  };
}

/** The same lines as the service's messages, from the simplest server that one could write. */
async function plainTurn(into, viewers, count) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const packr = new Packr({ useRecords: false });
  await viewers.open(
    `ws://127.0.0.1:${server.address().port}`,
    Array.from({ length: count }, () => null),
  );
  let seq = 0;
  const tellLines = () => {
    const event = (type, data) => ({ seq: ++seq, sessionId: 'aaaaaaaaaaaa', at: new Date().toISOString(), type, data });
    const timer = setInterval(() => {
      const script = { script: seq, kind: 'script', js: `console.log('x'.repeat(200))` };
      const line = { level: 'log', text: 'x'.repeat(200), line: 1, column: 1 };
      const ended = { script: seq, durationMs: 0.5, result: null };
      for (const told of [
        [event('ScriptStarted', script), event('ConsoleWritten', line)],
        [event('ScriptFinished', ended)],
      ]) {
        const message = packr.pack({ type: 'events', id: 'aaaaaaaaaaaa', events: told });
        for (const client of server.clients) client.send(message);
      }
    }, 1_000 / LINES_A_SECOND);
    return async () => clearInterval(timer);
  };
  await turn(into, viewers, tellLines, null);
  await viewers.leave();
  await new Promise((resolve) => server.close(resolve));
}

/** Bytes of this process for each of a thousand connections that wait. */
async function idleCost(viewers, url) {
  const before = await settledRss();
  await viewers.open(
    url,
    Array.from({ length: IDLE }, () => null),
  );
  const bytes = (await settledRss()) - before;
  await viewers.leave();
  return Math.max(0, bytes) / IDLE;
}

async function settledRss() {
  globalThis.gc?.();
  await pause(SETTLE_MS);
  return process.memoryUsage.rss();
}
