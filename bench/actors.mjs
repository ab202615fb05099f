// What does a command cost on its way to an actor on another thread? Asked in two ways, each beside its peer, in turns:
// many asks at once against comlink, and one after another against nothing but postMessage.
import { Worker } from 'node:worker_threads';
import { wrap } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { ThreadHost } from '#troupe/actors/thread-host.js';
import { percentile } from './support/percentiles.mjs';
import { atLeast, atMost, printHeader, printSamples } from './support/print.mjs';

/** Asks under way at once: a burst of 32 clients over 32 sessions has about as many. */
const IN_FLIGHT = 256;
const ASKS_A_ROUND = 20_000;
/** Short blocks, in turns: what else the machine does then falls on both alike. */
const PING_BLOCKS_A_ROUND = 8;
const PINGS_A_BLOCK = 250;
const BOUNDS = { deadlineMs: 60_000 };

/** What a session is asked most: a short script. */
const payloadOf = (number) => ({ js: `agent.look().elements[${number}].name`, kind: 'script', timeoutMs: 60_000 });

export async function run({ rounds = 20 } = {}) {
  const host = new ThreadHost({ entry: entry('actor-echo'), name: 'bench' });
  const comlinkThread = new Worker(entry('comlink-echo'));
  const rawThread = new Worker(entry('raw-echo'));
  try {
    const { ref } = await host.spawn({ name: 'echo' }, null);
    const remote = wrap(nodeEndpoint(comlinkThread));
    const ask = (payload) => ref.ask('Echo', payload, BOUNDS);
    const call = (payload) => remote.echo(payload);
    const post = postWithAnswers(rawThread);

    const rates = { actors: [], comlink: [] };
    const pings = { actors: [], raw: [] };
    // The first round only warms up.
    for (let round = 0; round <= rounds; round += 1) {
      const asked = await pipelined(ask);
      const called = await pipelined(call);
      for (let block = 0; block < PING_BLOCKS_A_ROUND; block += 1) {
        // Who goes first changes, so that neither always follows the other's rubbish.
        const order = block % 2 === 0 ? [ask, post] : [post, ask];
        for (const one of order) {
          const samples = await pingPong(one);
          if (round > 0) (one === ask ? pings.actors : pings.raw).push(...samples);
        }
      }
      if (round === 0) continue;
      rates.actors.push(asked);
      rates.comlink.push(called);
    }

    printHeader();
    printSamples(`asks, ${IN_FLIGHT} under way: actors`, rates.actors, 'asks/s');
    printSamples(`asks, ${IN_FLIGHT} under way: comlink`, rates.comlink, 'asks/s');
    printSamples('ping-pong: actors', pings.actors, 'us');
    printSamples('ping-pong: raw postMessage', pings.raw, 'us');
    return [
      atLeast('actors: pipelined asks/s, times comlink', median(rates.actors) / median(rates.comlink), 3),
      atMost('actors: ping-pong p50, times raw postMessage', median(pings.actors) / median(pings.raw), 1.2),
    ];
  } finally {
    await Promise.all([host.close(), comlinkThread.terminate(), rawThread.terminate()]);
  }
}

/** Answers a second with {@link IN_FLIGHT} under way: each client asks again when it is answered. */
async function pipelined(ask) {
  let left = ASKS_A_ROUND;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      await ask(payloadOf(left));
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
  return ASKS_A_ROUND / ((performance.now() - startedAt) / 1000);
}

/** Microseconds of each of many round trips, one after another. */
async function pingPong(ask) {
  const samples = [];
  for (let i = 0; i < PINGS_A_BLOCK; i += 1) {
    const startedAt = performance.now();
    await ask(payloadOf(i));
    samples.push((performance.now() - startedAt) * 1000);
  }
  return samples;
}

/** The least that a round trip can be: one promise a message, nothing else. */
function postWithAnswers(worker) {
  let resolve;
  worker.on('message', (message) => resolve(message));
  return (payload) =>
    new Promise((settle) => {
      resolve = settle;
      worker.postMessage(payload);
    });
}

function entry(name) {
  return new URL(`./support/${name}.thread.mjs`, import.meta.url);
}

function median(samples) {
  return percentile(samples, 0.5);
}
