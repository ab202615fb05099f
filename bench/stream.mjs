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
const SETTLE_MS = 500;
/** The first picture of each comes at once; what counts is what follows, which is seldom on a busy machine. */
const PICTURES_SETTLE_MS = 4_000;
const CPU_MS = 1_000;
const BESIDE_MS = 3_000;
/** Longer than it takes until each session has had its next picture. */
const PICTURES_BESIDE_MS = 8_000;
/** What opening and closing take. */
const SPARE_MS = 1_000;
/** A page on which something goes on: two pictures a second where it is watched. */
const PAGE = `<title>at work</title><h1>0</h1><script>
let n = 0; setInterval(() => { document.querySelector('h1').textContent = ++n; }, 500);</script>`;

const PARTS = { idle, crowd, each };

/** @param part one of `idle`, `crowd`, `each`; all of them where absent */
export async function run({ rounds = 8, part } = {}) {
  if (part !== undefined && !(part in PARTS)) throw new Error(`stream has the parts ${Object.keys(PARTS).join(', ')}`);
  const viewers = await streamViewers();
  const load = new HttpLoad();
  const targets = [];
  try {
    for (const [name, measure] of Object.entries(PARTS)) {
      if (part === undefined || part === name) targets.push(...(await measure(rounds, { viewers, load })));
    }
    return targets;
  } finally {
    await Promise.all([viewers.close(), load.close()]);
  }
}

async function idle(_rounds, { viewers }) {
  return withService({}, async ({ url }) => {
    const before = await settledRss();
    await viewers.open(
      url,
      Array.from({ length: IDLE }, () => []),
    );
    const bytes = Math.max(0, (await settledRss()) - before);
    await viewers.leave();
    return [atMost('stream: memory of an idle WebSocket, KiB', bytes / IDLE / 1024, 16)];
  });
}

/** A hundred on one session, and the same messages from `ws`. */
async function crowd(rounds, { viewers, load }) {
  return withService({ sessions: 2 }, async ({ service, url, ids: [one, quiet] }) => {
    const watchers = (count) => Array.from({ length: count }, () => [events(one)]);
    const turnOf = (count) => ({
      tellLines: (ms) => tell(service, [one], ms),
      open: () => viewers.open(url, watchers(count)),
      beside: (ms) => load.run([scriptOf(service, quiet)], ms),
    });
    const kinds = {
      'one talks, nobody watches': turnOf(0),
      [`${VIEWERS} watch it`]: turnOf(VIEWERS),
      'one watches it': { ...turnOf(1), beside: null },
      'ws in plain Node, one viewer': plainTurn(viewers, 1),
      [`ws in plain Node, ${VIEWERS} viewers`]: plainTurn(viewers, VIEWERS),
    };
    const seen = await takeTurns(rounds, kinds, { viewers, load, quiet: scriptOf(service, quiet) });
    const [alone, many, first, plainFirst, plainMany] = Object.values(seen);
    // What is read and packed once, for however many, is not counted.
    const fanOut = median(many.cpu) - median(first.cpu);
    const plainFanOut = median(plainMany.cpu) - median(plainFirst.cpu);
    return [
      atMost(`stream: p99 of lateness, ${VIEWERS} viewers on one session, ms`, percentile(many.late, 0.99), 100),
      atMost(`stream: a neighbour's p99 beside ${VIEWERS} viewers, times without`, feltBy(many, alone), 1.2),
      atMost(`stream: processor time of ${VIEWERS} viewers, times ws in plain Node`, fanOut / plainFanOut, 1),
    ];
  });
}

/** One on each of many sessions, with the picture of those that have a browser. */
async function each(rounds, { viewers, load }) {
  return withService({ real: REAL, sessions: REAL + SYNTHETIC + 1 }, async ({ service, url, ids }) => {
    const site = await openSite(PAGE);
    try {
      const quiet = ids.pop();
      const real = ids.slice(0, REAL);
      await Promise.all(real.map((id) => service.script(id, `agent.go('${site.origin}'); 1`)));
      const picture = (id) => ({ type: 'watchScreen', id, pace: 'live' });
      const watched = ids.map((id) => (real.includes(id) ? [events(id), picture(id)] : [events(id)]));
      const turnOf = (asked) => ({
        tellLines: (ms) => tell(service, ids, ms),
        open: () => viewers.open(url, asked),
        beside: (ms) => load.run([scriptOf(service, quiet)], ms),
        settleMs: PICTURES_SETTLE_MS,
        besideMs: PICTURES_BESIDE_MS,
      });
      // The turn in the middle is compared with both, and they with each other: so much is noise.
      const kinds = {
        'all talk, nobody watches': turnOf([]),
        'each is watched': turnOf(watched),
        'nobody watches, again': turnOf([]),
      };
      const seen = await takeTurns(rounds, kinds, { viewers, load, quiet: scriptOf(service, quiet) });
      const [without, beside, again] = Object.values(seen);
      console.log(`  nobody watches, again, times nobody watches: ${feltBy(again, without).toFixed(2)}`);
      const pictures = beside.frames / (rounds * (CPU_MS + PICTURES_BESIDE_MS) * 0.001);
      console.log(`  pictures of ${REAL} pages: ${pictures.toFixed(0)} a second`);
      const late = percentile(beside.late, 0.99);
      return [
        atMost(`stream: p99 of lateness, ${REAL} real and ${SYNTHETIC} other sessions, ms`, late, 100),
        atMost(
          `stream: a neighbour's p99 with ${REAL} + ${SYNTHETIC} sessions watched, times without`,
          feltBy(beside, without, again),
          1.2,
        ),
      ];
    } finally {
      await site.close();
    }
  });
}

async function withService({ real = 0, sessions = 0 }, work) {
  const service = await benchService({ maxSessions: sessions + 1, createTimeout: 120 }, { real });
  try {
    const ids = await service.live(sessions);
    return await work({ service, url: `ws://127.0.0.1:${service.port}/api/stream`, ids });
  } finally {
    await service.stop();
  }
}

function events(id) {
  return { type: 'watchSession', id, after: Number.MAX_SAFE_INTEGER };
}

/** What the load sends to a session. */
function scriptOf({ port }, id) {
  return { port, path: `/sessions/${id}/proxy`, body: JSON.stringify({ js: '1+1' }) };
}

/** A turn of each kind in every round, forwards and backwards, so that what the machine does meanwhile meets all alike. */
async function takeTurns(rounds, kinds, { viewers, load, quiet }) {
  const seen = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, measures()]));
  await load.run([quiet], CPU_MS, 2_000);
  // The first round finds code that nothing has compiled yet.
  for (let round = 0; round <= rounds; round += 1) {
    const order = Object.keys(kinds);
    for (const kind of round % 2 === 0 ? order : order.reverse()) {
      await turn(round === 0 ? measures() : seen[kind], viewers, kinds[kind]);
    }
  }
  printHeader();
  for (const [kind, { late, cpu, beside }] of Object.entries(seen)) {
    if (late.length > 0) printSamples(`${kind}: a line is late by`, late, 'ms');
    printSamples(`${kind}: processor time a second`, cpu, 'ms');
    if (beside.length > 0) printSamples(`${kind}: a script next door`, beside, 'ms');
  }
  return seen;
}

function measures() {
  return { late: [], cpu: [], beside: [], besideP99: [], frames: 0 };
}

/** Lines are told for a while: first with nothing else, whose processor time counts, then beside a neighbour's scripts. */
async function turn(into, viewers, kind) {
  const { open, tellLines, beside, close, settleMs = SETTLE_MS, besideMs = BESIDE_MS } = kind;
  await open();
  const stop = tellLines(settleMs + CPU_MS + (beside === null ? 0 : besideMs) + SPARE_MS);
  await pause(settleMs);
  await viewers.samples();
  into.cpu.push(await cpuOf(() => pause(CPU_MS)));
  const { samples } = beside === null ? { samples: [] } : await beside(besideMs);
  const { late, frames } = await viewers.samples();
  into.late.push(...late);
  into.frames += frames;
  if (beside !== null) {
    into.beside.push(...samples);
    into.besideP99.push(percentile(samples, 0.99));
  }
  await stop();
  await viewers.leave();
  await close?.();
}

/** How many times as long a neighbour's scripts take: p99 of each turn by the mean of those beside it, and of these the median. */
function feltBy(watched, ...without) {
  const mean = (round) => without.reduce((sum, { besideP99 }) => sum + besideP99[round], 0) / without.length;
  const ratios = watched.besideP99.map((p99, round) => p99 / mean(round));
  console.log(`  of each round: ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}`);
  return median(ratios);
}

function median(samples) {
  return percentile(samples, 0.5);
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
function tell(service, ids, ms) {
  const everyMs = (1_000 / LINES_A_SECOND) * ids.length;
  const count = Math.ceil(ms / everyMs);
  const ends = ids.map((id, index) => {
    const line = `console.log('x'.repeat(200)); agent.wait(${everyMs})`;
    return service.script(
      id,
      `agent.wait(${(index * everyMs) / ids.length}); for (let n = 0; n < ${count}; n += 1) { ${line} }`,
    );
  });
  return () => Promise.all(ends);
}

function plainTurn(viewers, count) {
  let stream;
  return {
    async open() {
      stream = await plainStream();
      await viewers.open(
        stream.url,
        Array.from({ length: count }, () => []),
      );
    },
    tellLines: () => stream.tell(LINES_A_SECOND, count),
    beside: null,
    close: () => stream.close(),
  };
}

async function settledRss() {
  globalThis.gc?.();
  await pause(SETTLE_MS);
  return process.memoryUsage.rss();
}
