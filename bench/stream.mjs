// What do those who watch cost? A hundred pages on one session; one page on each of twenty real browsers, with its picture,
// and of eighty sessions whose browsers cost nothing; and a thousand that only wait. How late each line arrives, and
// whether a session that nobody watches feels it. Beside it the same messages to the same hundred pages from `ws` in plain
// Node.
import { setTimeout as pause } from 'node:timers/promises';
import { benchService } from './support/bench-service.mjs';
import { HttpLoad } from './support/http-load.mjs';
import { openSite } from './support/open-site.mjs';
import { percentile } from './support/percentiles.mjs';
import { plainStream } from './support/plain-stream.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';
import { streamViewers } from './support/stream-viewers.mjs';

const VIEWERS = 100;
const REAL = 20;
const SYNTHETIC = 80;
const IDLE = 1_000;
const LINES_A_SECOND = 50;
const TURN_MS = 1_500;
const SETTLE_MS = 500;
/** A turn, with the time that opening and closing take. */
const TALK_MS = SETTLE_MS + 2 * TURN_MS + 500;
/** A page on which something goes on: two pictures a second where it is watched. */
const PAGE = `<title>at work</title><h1>0</h1><script>
let n = 0; setInterval(() => { document.querySelector('h1').textContent = ++n; }, 500);</script>`;

export async function run({ rounds = 5 } = {}) {
  const site = await openSite(PAGE);
  const service = await benchService({ maxSessions: REAL + SYNTHETIC + 1, createTimeout: 120 }, { real: REAL });
  const viewers = await streamViewers();
  const load = new HttpLoad();
  const url = `ws://127.0.0.1:${service.port}/api/stream`;
  try {
    const idleBytes = await idleCost(viewers, url);
    const ids = await service.live(REAL + SYNTHETIC + 1);
    const quiet = ids.pop();
    const real = ids.slice(0, REAL);
    await Promise.all(real.map((id) => service.script(id, `agent.go('${site.origin}'); 1`)));
    const neighbour = { port: service.port, path: `/sessions/${quiet}/proxy`, body: JSON.stringify({ js: '1+1' }) };
    const events = (id) => ({ type: 'watchSession', id, after: Number.MAX_SAFE_INTEGER });
    const picture = (id) => ({ type: 'watchScreen', id, pace: 'live' });
    const one = ids.at(-1);
    const watchers = (count) => Array.from({ length: count }, () => [events(one)]);
    const kinds = {
      'one talks, nobody watches': { told: [one], asked: [] },
      'one watches it': { told: [one], asked: watchers(1) },
      [`${VIEWERS} watch it`]: { told: [one], asked: watchers(VIEWERS) },
      'all talk, nobody watches': { told: ids, asked: [] },
      'each is watched': {
        told: ids,
        asked: ids.map((id) => (real.includes(id) ? [events(id), picture(id)] : [events(id)])),
      },
    };
    const seen = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, measures()]));
    const peer = { one: measures(), all: measures() };
    const beside = () => load.run([neighbour], TURN_MS);
    await load.run([neighbour], TURN_MS, 2_000);
    // The first round finds code that nothing has compiled yet.
    for (let round = 0; round <= rounds; round += 1) {
      for (const [kind, { told, asked }] of Object.entries(kinds)) {
        await viewers.open(url, asked);
        await turn(round === 0 ? measures() : seen[kind], viewers, () => tell(service, told), beside);
        await viewers.leave();
      }
      await plainTurn(round === 0 ? measures() : peer.one, viewers, 1);
      await plainTurn(round === 0 ? measures() : peer.all, viewers, VIEWERS);
    }
    const [alone, first, crowd, unwatched, each] = Object.values(seen);
    printHeader();
    for (const [kind, { late, cpu, beside }] of Object.entries(seen)) {
      if (late.length > 0) printSamples(`${kind}: a line is late by`, late, 'ms');
      printSamples(`${kind}: processor time a second`, cpu, 'ms');
      printSamples(`${kind}: a script next door`, beside, 'ms');
    }
    printSamples(`ws, ${VIEWERS} viewers: a line is late by`, peer.all.late, 'ms');
    printSamples(`ws, ${VIEWERS} viewers: processor time a second`, peer.all.cpu, 'ms');
    console.log(`  pictures of ${REAL} pages: ${(each.frames / rounds / (TURN_MS / 1000)).toFixed(0)} a second`);
    const median = (samples) => percentile(samples, 0.5);
    const p99 = (samples) => percentile(samples, 0.99);
    // What is read and packed once, for however many, is not counted.
    const fanOut = median(crowd.cpu) - median(first.cpu);
    const plainFanOut = median(peer.all.cpu) - median(peer.one.cpu);
    return [
      atMost(`stream: p99 of lateness, ${VIEWERS} viewers on one session, ms`, p99(crowd.late), 100),
      atMost(`stream: p99 of lateness, ${REAL} real and ${SYNTHETIC} other sessions, ms`, p99(each.late), 100),
      atMost(
        `stream: a neighbour's p99 beside ${VIEWERS} viewers, times without`,
        median(crowd.besideP99) / median(alone.besideP99),
        1.2,
      ),
      atMost(
        `stream: a neighbour's p99 with ${REAL} + ${SYNTHETIC} sessions watched, times without`,
        median(each.besideP99) / median(unwatched.besideP99),
        1.2,
      ),
      atMost(`stream: processor time of ${VIEWERS} viewers, times ws in plain Node`, fanOut / plainFanOut, 1),
      atMost('stream: memory of an idle WebSocket, KiB', idleBytes / 1024, 16),
    ];
  } finally {
    await Promise.all([viewers.close(), load.close()]);
    await service.stop();
    await site.close();
  }
}

function measures() {
  return { late: [], cpu: [], beside: [], besideP99: [], frames: 0 };
}

/** Lines are told for a while: first with nothing else, whose processor time counts, then beside a neighbour's scripts. */
async function turn(into, viewers, tellLines, besideThem) {
  const stop = tellLines();
  await pause(SETTLE_MS);
  await viewers.samples();
  into.cpu.push(await cpuOf(() => pause(TURN_MS)));
  const { late, frames } = await viewers.samples();
  into.late.push(...late);
  into.frames += frames;
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

/** Has the sessions write their lines, one after another, each in one script that lasts as long. Answers what awaits them. */
function tell(service, ids) {
  const everyMs = (1_000 / LINES_A_SECOND) * ids.length;
  const count = Math.ceil(TALK_MS / everyMs);
  const ends = ids.map((id, index) => {
    const line = `console.log('x'.repeat(200)); agent.wait(${everyMs})`;
    return service.script(
      id,
      `agent.wait(${(index * everyMs) / ids.length}); for (let n = 0; n < ${count}; n += 1) { ${line} }`,
    );
  });
  return () => Promise.all(ends);
}

async function plainTurn(into, viewers, count) {
  const stream = await plainStream();
  await viewers.open(
    stream.url,
    Array.from({ length: count }, () => []),
  );
  await turn(into, viewers, () => stream.tell(LINES_A_SECOND), null);
  await viewers.leave();
  await stream.close();
}

/** Bytes of this process for each of a thousand connections that wait. */
async function idleCost(viewers, url) {
  const before = await settledRss();
  await viewers.open(
    url,
    Array.from({ length: IDLE }, () => []),
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
