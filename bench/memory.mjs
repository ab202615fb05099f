// What does a session cost this process, browser aside? Its actor, its script thread with an engine, its record: measured
// as the growth of the resident memory, with up to 1,000 of them at once, each having run a script.
import { freemem } from 'node:os';
import { setTimeout as pass } from 'node:timers/promises';
import { benchService } from './support/bench-service.mjs';
import { atMost } from './support/print.mjs';

const MEGABYTE = 1024 ** 2;
/** As many at a time; each line of the table is one more step. */
const STEPS = [10, 100, 250, 500, 1_000];
/** What must be left on the machine for the next step, with what the last one took for each session. */
const SPARE_BYTES = 3 * 1024 * MEGABYTE;
const SETTLE_MS = 2_000;

export async function run() {
  // One more, whose memory is none of theirs: what is loaded once.
  const service = await benchService({ maxSessions: Math.max(...STEPS) + 1, createTimeout: 600, idleTimeout: 86_400 });
  try {
    await use(service, await service.live(1));
    await pass(SETTLE_MS);
    const before = process.memoryUsage.rss();
    let sessions = 0;
    let each = 0;
    console.log('  sessions     MB in all   MB a session   s to start');
    for (const step of STEPS) {
      if (freemem() - (step - sessions) * each < SPARE_BYTES) {
        console.log(`  ${step} would not leave this machine enough memory`);
        break;
      }
      const startedAt = performance.now();
      await use(service, await service.live(step - sessions));
      const seconds = (performance.now() - startedAt) / 1_000;
      sessions = step;
      await pass(SETTLE_MS);
      const grown = process.memoryUsage.rss() - before;
      each = grown / sessions;
      const columns = [sessions, grown / MEGABYTE, each / MEGABYTE, seconds];
      console.log(`  ${columns.map((value, index) => value.toFixed(index === 0 ? 0 : 1).padStart(8)).join('       ')}`);
    }
    return [atMost('memory: MB a session, its browser aside', each / MEGABYTE, 16)];
  } finally {
    await service.stop();
  }
}

async function use(service, ids) {
  for (const id of ids) {
    const answer = await fetch(`http://127.0.0.1:${service.port}/sessions/${id}/proxy`, {
      method: 'POST',
      body: '{"js": "let kept = 1; kept + 1"}',
    });
    if (answer.status !== 200) throw new Error(`Answered ${answer.status}: ${await answer.text()}`);
  }
}
