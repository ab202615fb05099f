// Does a session feel its neighbour? Scripts of one session, one after another, while another session's script never ends:
// first alone, then beside a hog that computes, one that fills its memory, and one that writes to its console.
import { benchService } from './support/bench-service.mjs';
import { HttpLoad } from './support/http-load.mjs';
import { percentile } from './support/percentiles.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';

const TURN_MS = 1_500;
const WARM_UP_SCRIPTS = 2_000;
/** Each ends by its own bound, and is sent again. */
const HOGS = {
  'computes for ever': 'while (true) {}',
  'fills its memory': 'const a = []; while (true) a.push("x".repeat(1e5) + a.length)',
  'writes for ever': 'while (true) console.log("x".repeat(1000))',
};

export async function run({ rounds = 5 } = {}) {
  // The bound of a script is short, so that each hog is met often in its end as well: the thread that is ended, the fresh one.
  const service = await benchService({ maxSessions: 2, evalTimeout: 1 });
  const load = new HttpLoad();
  try {
    const [quiet, loud] = await service.live(2);
    const request = { port: service.port, path: `/sessions/${quiet}/proxy`, body: JSON.stringify({ js: '1+1' }) };
    const turn = async () => (await load.run([request], TURN_MS)).samples;
    await load.run([request], TURN_MS, WARM_UP_SCRIPTS);
    const alone = [];
    const beside = Object.fromEntries(Object.keys(HOGS).map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, js] of Object.entries(HOGS)) {
        alone.push(...(await turn()));
        const stop = hog(service.port, loud, js);
        beside[name].push(...(await turn()));
        await stop();
      }
    }
    printHeader();
    printSamples('alone', alone, 'ms');
    for (const [name, samples] of Object.entries(beside)) printSamples(`beside one that ${name}`, samples, 'ms');
    const p99 = (samples) => percentile(samples, 0.99);
    return Object.entries(beside).map(([name, samples]) =>
      atMost(`neighbours: p99 beside one that ${name}, times alone`, p99(samples) / p99(alone), 1.5),
    );
  } finally {
    await load.close();
    await service.stop();
  }
}

/** Sends the script again and again. Answers what ends that, and settles when the last has ended. */
function hog(port, id, js) {
  let goesOn = true;
  const sending = (async () => {
    while (goesOn) {
      const body = JSON.stringify({ js });
      await (await fetch(`http://127.0.0.1:${port}/sessions/${id}/proxy`, { method: 'POST', body })).text();
    }
  })();
  return () => {
    goesOn = false;
    return sending;
  };
}
