// What does a session that nobody uses cost in memory, and do fifty of them, held at once, still answer? Memory is PSS, where
// what processes share is counted once, or what `docker stats` says of a container. `--rounds` is the number of sessions.
import { percentiles } from './support/percentiles.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';
import { startServiceProcess } from './support/service-process.mjs';
import { pss, sessionWorker } from './support/session-worker.mjs';

const OPENING_AT_ONCE = 2;
const MEGABYTE = 1024 * 1024;

export async function run({ rounds: count = 50 } = {}) {
  const service = await startServiceProcess({
    warmSessions: 0,
    maxSessions: count,
    idleTimeout: 3600,
    createTimeout: 120,
  });
  try {
    const before = pss(service.pid);
    const ids = [];
    const open = async () => {
      while (ids.length < count) {
        const slot = ids.push(null) - 1;
        ids[slot] = await service.create();
        await service.script(ids[slot], 'agent.go("data:text/html,<title>here</title>").title');
      }
    };
    await Promise.all(Array.from({ length: OPENING_AT_ONCE }, open));
    const browsers = [];
    for (const id of ids) browsers.push((await (await sessionWorker(service, id)).bytes()) / MEGABYTE);
    const own = (pss(service.pid) - before) / count / MEGABYTE;
    const answers = [];
    for (const id of ids) {
      const startedAt = performance.now();
      if ((await service.script(id, 'agent.look().title')) !== 'here') throw new Error(`${id} has lost its page`);
      answers.push(performance.now() - startedAt);
    }
    printHeader();
    printSamples('a browser with its page', browsers, 'MB');
    printSamples('actor and script thread, mean', [own], 'MB');
    printSamples(`a look, with ${count} sessions held`, answers, 'ms');
    return [
      atMost('MB of an idle session, mean', mean(browsers) + own, 180),
      atMost('a look, p99 in ms', percentiles(answers).p99, 1000),
    ];
  } finally {
    await service.stop();
  }
}

function mean(samples) {
  return samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
}
