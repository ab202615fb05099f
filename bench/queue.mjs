// What becomes of 1,000 jobs in the queue, ten at a time, and of the twenty of another caller that come when it is full?
// Flows that only compute, over browsers that are none: what is measured is who is let in, when, and what it costs.
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { benchService } from './support/bench-service.mjs';
import { atLeast, atMost } from './support/print.mjs';

const AT_ONCE = 10;
const OTHERS = 20;
const MEGABYTE = 1024 ** 2;

/** @param options.rounds jobs of the caller who floods the queue */
export async function run({ rounds = 1_000 } = {}) {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc');
  const heap = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed / MEGABYTE;
  };
  const service = await benchService({ maxSessions: AT_ONCE, createTimeout: 600 });
  const ask = (method, path, body, localAddress) => callOf(service.port, { method, path, body, localAddress });
  try {
    writeFileSync(join(service.home, 'flows', 'count.js'), '() => 6 * 7');
    const job = { prompt: 'count', flowFiles: ['count.js'], maxIterations: 0 };
    const flood = [];
    // Every tenth client waits for the end, and every second one of these leaves at once.
    for (let index = 0; index < rounds; index += 1) {
      if (index % 10 === 0) ask('POST', '/api/sessions/run', job, undefined).then(undefined, () => undefined);
      else flood.push((await ask('POST', '/api/jobs', job)).id);
      if (index % 20 === 0) leaveOne(service.port, job);
    }
    const queued = await ask('GET', '/api/sessions?state=queued&limit=1000');
    const positions = new Map(queued.map(({ id, queuePosition }) => [id, queuePosition]));
    const waiting = flood.flatMap((id) => positions.get(id) ?? []);
    const inOrder = waiting.every((position, index) => index === 0 || position > waiting[index - 1]);
    const startedBefore = (await ask('GET', '/api/health')).capacity.queued;
    const others = [];
    for (let index = 0; index < OTHERS; index += 1) {
      others.push((await ask('POST', '/api/jobs', job, '127.0.0.2')).id);
    }
    const first = await ended(ask, others);
    const floodStarted = startedBefore - (await ask('GET', '/api/health')).capacity.queued;
    const heapEarly = heap();
    await ended(ask, flood);
    await drained(ask);
    const heapLate = heap();
    const all = [];
    for (let before = ''; ; ) {
      const page = await ask('GET', `/api/sessions?limit=1000${before}`);
      all.push(...page);
      if (page.length < 1_000) break;
      before = `&before=${page.at(-1).id}`;
    }
    const completed = all.filter(({ state }) => state === 'completed').length;
    console.log(
      `  ${all.length} jobs, ${first} s until the other caller's were done, heap ${heapEarly.toFixed(1)} then ${heapLate.toFixed(1)} MB`,
    );
    return [
      atLeast('queue: jobs that completed, of those that were accepted', completed / all.length, 1),
      atMost('queue: places that a job was out of its order', disorder(all, flood), AT_ONCE),
      atLeast('queue: positions in order (1) or not (0)', Number(inOrder), 1),
      atMost('queue: jobs of a flood let in while the twenty of another were done', floodStarted, OTHERS + 2 * AT_ONCE),
      atMost('queue: MB that the heap grew by over the flood', heapLate - heapEarly, 8),
    ];
  } finally {
    await service.stop();
  }
}

/** How far a job's start was from its turn at most. */
function disorder(all, ids) {
  const startedAt = new Map(all.map((record) => [record.id, record.startedAt]));
  const turns = new Map(ids.map((id, index) => [id, index]));
  const started = [...ids].sort((one, other) => (startedAt.get(one) < startedAt.get(other) ? -1 : 1));
  return Math.max(...started.map((id, index) => Math.abs(index - turns.get(id))));
}

async function ended(ask, ids) {
  const from = performance.now();
  for (const id of ids) while ((await ask('GET', `/api/jobs/${id}`)).endedAt === null) await pass(20);
  return ((performance.now() - from) / 1_000).toFixed(1);
}

async function drained(ask) {
  for (;;) {
    const { running, queued } = (await ask('GET', '/api/health')).capacity;
    if (running + queued === 0) return;
    await pass(50);
  }
}

/** A client that submits, waits for the end and goes away before it comes. */
function leaveOne(port, job) {
  const sent = request({ host: '127.0.0.1', port, method: 'POST', path: '/api/sessions/run', agent: false });
  sent.on('error', () => undefined);
  sent.end(JSON.stringify(job));
  setTimeout(() => sent.destroy(), 50);
}

function callOf(port, { method, path, body, localAddress }) {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, localAddress, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => {
        if (response.statusCode >= 300) reject(new Error(`${method} ${path} answered ${response.statusCode}: ${text}`));
        else resolve(JSON.parse(text));
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
