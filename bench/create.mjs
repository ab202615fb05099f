// How long until a session can be used, and until it is gone? Beside it what a user would do without us: start the same
// browser, or run the same container, connect Playwright to it, open the page, end it.
import { aloneInDocker } from './support/alone-in-docker.mjs';
import { aloneWithPlaywright } from './support/alone-with-playwright.mjs';
import { openSite } from './support/open-site.mjs';
import { percentiles } from './support/percentiles.mjs';
import { atLeast, atMost, printHeader, printSamples } from './support/print.mjs';
import { startServiceProcess } from './support/service-process.mjs';
import { sessionWorker } from './support/session-worker.mjs';

const PAGE = '<title>here</title>';
const STORMS = 3;

export async function run({ rounds = 20 } = {}) {
  const site = await openSite(PAGE);
  const few = await startServiceProcess({ warmSessions: 2, maxSessions: 4, forward: [site.port] });
  const docker = few.driver === 'docker';
  const alone = await (docker ? aloneInDocker : aloneWithPlaywright)(PAGE);
  const samples = { warm: [], cold: [], lifecycle: [], alone: [], answered: [], dead: [], gone: [] };
  let four;
  try {
    for (let round = 0; round < rounds; round += 1) {
      await few.warm(2);
      await create(few, {}, samples.warm, samples);
      await few.warm(2);
      samples.lifecycle.push(await timed(() => lifecycle(few, site.origin)));
      await few.warm(2);
      samples.alone.push(await timed(() => alone.lifecycle()));
      // A size of its own cannot be given to a browser that waits.
      if (round % 4 === 0) await create(few, { viewport: { width: 1200, height: 700 } }, samples.cold);
    }
    four = await storms(few, 4);
  } finally {
    await few.stop();
    await alone.close();
    await site.close();
  }
  const many = await startServiceProcess({ warmSessions: 20, maxSessions: 20 });
  const twenty = await storms(many, 20).finally(() => many.stop());

  printHeader();
  printSamples('create and first script, warm', samples.warm, 'ms');
  printSamples('create and first script, cold', samples.cold, 'ms');
  printSamples('create and first script, 20 at once', twenty.usable, 'ms');
  printSamples('create, go, delete', samples.lifecycle, 'ms');
  printSamples(`the same alone, ${docker ? 'docker run' : 'a browser'}, Playwright`, samples.alone, 'ms');
  printSamples('DELETE answered', samples.answered, 'ms');
  printSamples('browser dead after the answer', samples.dead, 'ms');
  printSamples('nothing left of it', samples.gone, 'ms');
  printSamples('nothing left, 4 deleted at once', four.gone, 'ms');
  printSamples('nothing left, 20 deleted at once', twenty.gone, 'ms');
  const [warm, cold, life, peer] = [samples.warm, samples.cold, samples.lifecycle, samples.alone].map(percentiles);
  return [
    atMost('create and first script, warm, p50 in ms', warm.p50, 10),
    atMost('create and first script, warm, p99 in ms', warm.p99, 50),
    atMost('create and first script, 20 at once, p99 in ms', percentiles(twenty.usable).p99, 100),
    atLeast('cold beside warm, p50', cold.p50 / warm.p50, 10),
    atMost('create, go, delete, p50 in ms', life.p50, 150),
    atLeast('the same alone beside create, go, delete, p50', peer.p50 / life.p50, 4),
    atMost('DELETE answered, p50 in ms', percentiles(samples.answered).p50, 5),
    atMost('browser dead after the answer, p99 in ms', percentiles(samples.dead).p99, 250),
    atMost('nothing left, 4 deleted at once, p99 in ms', percentiles(four.gone).p99, 1000),
    atMost('nothing left, 20 deleted at once, p99 in ms', percentiles(twenty.gone).p99, 4000),
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
  const worker = await sessionWorker(service, id);
  const answered = await timed(() => service.remove(id));
  if (ends === undefined) return;
  ends.answered.push(answered);
  const answeredAt = performance.now();
  await worker.dead();
  ends.dead.push(performance.now() - answeredAt);
  await worker.gone();
  ends.gone.push(performance.now() - answeredAt);
}

async function lifecycle(service, url) {
  const id = await service.create();
  const { title } = await service.script(id, `agent.go(${JSON.stringify(url)})`);
  if (title !== 'here') throw new Error(`The page is ${title}`);
  await service.remove(id);
}

/** So many creates at once against the browsers that wait, and so many deletes at once. */
async function storms(service, count) {
  const usable = [];
  const gone = [];
  for (let round = 0; round < STORMS; round += 1) {
    await service.warm(Math.min(count, service.warmSessions));
    const workers = await Promise.all(
      Array.from({ length: count }, async () => {
        const startedAt = performance.now();
        const id = await service.create();
        await service.script(id, '1 + 1');
        usable.push(performance.now() - startedAt);
        return id;
      }),
    ).then((ids) => Promise.all(ids.map(async (id) => ({ id, worker: await sessionWorker(service, id) }))));
    await Promise.all(
      workers.map(async ({ id, worker }) => {
        await service.remove(id);
        gone.push(await timed(() => worker.gone()));
      }),
    );
  }
  return { usable, gone };
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
