// Does anybody feel those who read events? A hundred who read a history of 20,000 from its beginning, again and again; a
// hundred who follow a session that talks; and two hundred who have asked and read nothing. Beside them, at a steady pace,
// `/api/health` and a script of a session next door, which has a real browser.
import { setTimeout as pause } from 'node:timers/promises';
import { benchService } from './support/bench-service.mjs';
import { eventReaders } from './support/event-readers.mjs';
import { longestLap } from './support/longest-lap.mjs';
import { PacedProbe } from './support/paced-probe.mjs';
import { percentile } from './support/percentiles.mjs';
import { atLeast, atMost, printHeader, printSamples } from './support/print.mjs';

const HISTORY = 20_000;
const LINES_A_SCRIPT = 1_000;
const FROM_THE_BEGINNING = 100;
const LIVE = 100;
const SILENT = 200;
const LIVE_LINES_A_SECOND = 50;
const EVERY_MS = 20;
const TURN_MS = 5_000;
/** How long it is looked at how long the service computes in one go. */
const LAP_MS = 2_000;
const MEGABYTE = 1024 ** 2;
/** Each caller may have 250 streams open. */
const ADDRESSES = { past: '127.0.0.2', live: '127.0.0.3', silent: '127.0.0.4' };

/** @param options.rounds turns of five seconds, of which the medians count */
export async function run({ rounds = 5 } = {}) {
  const service = await benchService({ maxSessions: 3 }, { real: 1 });
  const probe = new PacedProbe();
  const kinds = { alone: [], beside: [] };
  const laps = [];
  const { port } = service;
  let whole = 0;
  let rssBefore = 0;
  let rssAfter = 0;
  try {
    const [quiet, told, talks] = await service.live(3);
    for (let line = 0; line < HISTORY; line += LINES_A_SCRIPT) {
      await service.script(told, `for (let n = 0; n < ${LINES_A_SCRIPT}; n += 1) console.log('x'.repeat(200)); 1`);
    }
    const asked = [
      { port, method: 'GET', path: '/api/health' },
      { port, method: 'POST', path: `/sessions/${quiet}/proxy`, body: JSON.stringify({ js: '1+1' }) },
    ];
    const turn = () => probe.run(asked, { everyMs: EVERY_MS, durationMs: TURN_MS });
    await turn();
    rssBefore = process.memoryUsage.rss();
    for (let round = 0; round < rounds; round += 1) {
      const readers = await eventReaders();
      const talking = talk(service, talks);
      try {
        kinds.alone.push(await turn());
        const events = (id) => `/api/sessions/${id}/events`;
        const newest = {
          port,
          address: ADDRESSES.live,
          path: `${events(talks)}?after=${Number.MAX_SAFE_INTEGER % 1e15}`,
        };
        const past = { port, path: events(told), reads: true, again: HISTORY };
        await readers.open({ ...past, address: ADDRESSES.silent, reads: false, count: SILENT });
        await readers.open({ ...newest, reads: true, count: LIVE });
        const opening = readers.open({ ...past, address: ADDRESSES.past, count: FROM_THE_BEGINNING });
        kinds.beside.push(await turn());
        await opening;
        const loop = longestLap();
        await pause(LAP_MS);
        laps.push(loop.stop());
        rssAfter = Math.max(rssAfter, process.memoryUsage.rss());
        whole += (await readers.seen()).whole;
      } finally {
        await readers.close();
        await talking.stop();
      }
    }
  } finally {
    await service.stop();
    await probe.close();
  }
  printHeader();
  const names = ['health', '1+1 next door'];
  const worst = names.map((name, index) => {
    printSamples(
      `${name}, nobody reads`,
      kinds.alone.flatMap((turn) => turn[index]),
      'ms',
    );
    printSamples(
      `${name}, beside the readers`,
      kinds.beside.flatMap((turn) => turn[index]),
      'ms',
    );
    return percentile(
      kinds.beside.map((turn) => percentile(turn[index], 0.99)),
      0.5,
    );
  });
  printSamples('longest that the service computes in one go', laps, 'ms');
  console.log(`  whole histories that were read: ${whole}`);
  return [
    ...names.map((name, index) => atMost(`readers: p99 of ${name}, median of the turns, ms`, worst[index], 50)),
    // Of processor time: it says the same on a machine that others use too.
    atMost('readers: longest that the service computes in one go, median of the turns, ms', percentile(laps, 0.5), 50),
    atLeast('readers: whole histories that were read, in a turn', whole / rounds, FROM_THE_BEGINNING / 4),
    atMost('readers: MB that the service grew by, with 400 readers', (rssAfter - rssBefore) / MEGABYTE, 200),
  ];
}

/** Has a session write lines at a steady pace until it is stopped. */
function talk(service, id) {
  let stopped = false;
  const wait = 1_000 / LIVE_LINES_A_SECOND;
  const lines = `for (let n = 0; n < ${LIVE_LINES_A_SECOND}; n += 1) { console.log('live'); agent.wait(${wait}); } 1`;
  const talking = (async () => {
    while (!stopped) await service.script(id, lines);
  })();
  talking.catch(() => undefined);
  return {
    stop() {
      stopped = true;
      return talking;
    },
  };
}
