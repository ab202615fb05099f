// How long until a session can be used, and until it is gone? Beside it what a user would do without us: start the same
// browser, connect Playwright to it, open the page, end the browser.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { aloneWithPlaywright } from './support/alone-with-playwright.mjs';
import { percentiles } from './support/percentiles.mjs';
import { atLeast, atMost, printHeader, printSamples } from './support/print.mjs';
import { startServiceProcess } from './support/service-process.mjs';

const AT_ONCE = 20;
const STORMS = 3;
const GONE_DEADLINE_MS = 10_000;

export async function run({ rounds = 20 } = {}) {
  const alone = await aloneWithPlaywright('<title>here</title>');
  const few = await startServiceProcess({ warmSessions: 2, maxSessions: 4 });
  const samples = { warm: [], cold: [], lifecycle: [], playwright: [], answered: [], dead: [] };
  try {
    for (let round = 0; round < rounds; round += 1) {
      await few.warm(2);
      await create(few, {}, samples.warm, samples);
      await few.warm(2);
      samples.lifecycle.push(await timed(() => lifecycle(few, alone.origin)));
      await few.warm(2);
      samples.playwright.push(await timed(() => alone.lifecycle()));
      // A size of its own cannot be given to a browser that waits.
      if (round % 4 === 0) await create(few, { viewport: { width: 1200, height: 700 } }, samples.cold);
    }
  } finally {
    await few.stop();
    await alone.close();
  }
  const storm = await storms();

  printHeader();
  printSamples('create and first script, warm', samples.warm, 'ms');
  printSamples('create and first script, cold', samples.cold, 'ms');
  printSamples(`create and first script, ${AT_ONCE} at once`, storm, 'ms');
  printSamples('create, go, delete', samples.lifecycle, 'ms');
  printSamples('the same alone, with Playwright', samples.playwright, 'ms');
  printSamples('DELETE answered', samples.answered, 'ms');
  printSamples('browser dead after the answer', samples.dead, 'ms');
  const [warm, cold, life, peer] = [samples.warm, samples.cold, samples.lifecycle, samples.playwright].map(percentiles);
  return [
    atMost('create and first script, warm, p50 in ms', warm.p50, 10),
    atMost('create and first script, warm, p99 in ms', warm.p99, 50),
    atMost(`create and first script, ${AT_ONCE} at once, p99 in ms`, percentiles(storm).p99, 100),
    atLeast('cold beside warm, p50', cold.p50 / warm.p50, 10),
    atMost('create, go, delete, p50 in ms', life.p50, 150),
    atLeast('Playwright alone beside create, go, delete, p50', peer.p50 / life.p50, 4),
    atMost('DELETE answered, p50 in ms', percentiles(samples.answered).p50, 5),
    atMost('browser dead after the answer, p99 in ms', percentiles(samples.dead).p99, 250),
  ];
}

async function create(service, request, into, ends) {
  let id;
  into.push(
    await timed(async () => {
      id = await service.create(request);
      if ((await service.script(id, '1 + 1')) !== 2) throw new Error('The script gave another answer');
    }),
  );
  const pids = service.driver === 'process' ? browserOf(id) : [];
  const answered = await timed(() => service.remove(id));
  if (ends === undefined) return;
  ends.answered.push(answered);
  if (pids.length > 0) ends.dead.push(await timed(() => gone(pids)));
}

async function lifecycle(service, url) {
  const id = await service.create();
  const { title } = await service.script(id, `agent.go(${JSON.stringify(url)})`);
  if (title !== 'here') throw new Error(`The page is ${title}`);
  await service.remove(id);
}

/** As many creates at once as browsers wait. */
async function storms() {
  const service = await startServiceProcess({ warmSessions: AT_ONCE, maxSessions: AT_ONCE });
  const samples = [];
  try {
    for (let round = 0; round < STORMS; round += 1) {
      await service.warm(AT_ONCE);
      const ids = await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          const startedAt = performance.now();
          const id = await service.create();
          await service.script(id, '1 + 1');
          samples.push(performance.now() - startedAt);
          return id;
        }),
      );
      await Promise.all(ids.map((id) => service.remove(id)));
    }
  } finally {
    await service.stop();
  }
  return samples;
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** The processes of a session's browser. */
function browserOf(id) {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && textOf(`/proc/${pid}/cmdline`).includes(`b-${id}/`));
}

async function gone(pids) {
  const deadline = performance.now() + GONE_DEADLINE_MS;
  const lives = (pid) => /\) [^ZX] /.test(textOf(`/proc/${pid}/stat`));
  while (pids.some(lives)) {
    if (performance.now() > deadline) throw new Error('A browser does not end');
    await pause(2);
  }
}

function textOf(file) {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
