// What becomes of 1,000 jobs in the queue, ten at a time, and of the twenty of another caller that come when it is full?
// Flows that only compute, over browsers that are none: what is measured is who is let in, when, and what it costs.
// And what do 10,000 jobs of 100 KB cost in memory while they wait, and how much longer does a start take with them?
import { writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { benchService } from './support/bench-service.mjs';
import { percentile } from './support/percentiles.mjs';
import { atLeast, atMost } from './support/print.mjs';

const AT_ONCE = 10;
const OTHERS = 20;
const MEGABYTE = 1024 ** 2;
const LARGE_JOBS = 10_000;
/** Half of it stands in the record too, half is kept closed. */
const HALF = 50_000;
/** What is there by then is counted as no growth: compiled code, caches that have their size. */
const FIRST_JOBS = 1_000;
const CLIENTS = 8;
const STARTS = 3;

const PARTS = { flood, large };

/**
 * @param options.rounds jobs of the caller who floods the queue
 * @param options.part one of `flood`, `large`; both where absent
 */
export async function run({ rounds = 1_000, part } = {}) {
  if (part !== undefined && !(part in PARTS)) throw new Error(`queue has the parts ${Object.keys(PARTS).join(', ')}`);
  setFlagsFromString('--expose-gc');
  const targets = [];
  for (const [name, measure] of Object.entries(PARTS)) {
    if (part === undefined || part === name) targets.push(...(await measure(rounds)));
  }
  return targets;
}

function heap() {
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed / MEGABYTE;
}

function rss() {
  return process.memoryUsage.rss() / MEGABYTE;
}

/** Ten thousand large jobs behind a place that is taken. */
async function large() {
  const first = await benchService({ maxSessions: 1 });
  const { home } = first;
  const job = JSON.stringify({
    prompt: 'x'.repeat(HALF),
    flowFiles: ['count.js'],
    maxIterations: 0,
    secrets: Object.fromEntries(Array.from({ length: HALF / 10_000 }, (_, n) => [`s${n}`, 'x'.repeat(10_000)])),
  });
  let service = first;
  try {
    writeFileSync(join(home, 'flows', 'count.js'), '() => 6 * 7');
    await first.live(1);
    let submitted = 0;
    const submit = async (upTo) => {
      const client = async () => {
        while (submitted < upTo) {
          submitted += 1;
          await callOf(first.port, { method: 'POST', path: '/api/jobs', text: job });
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
    };
    await submit(FIRST_JOBS);
    const before = { heap: heap(), rss: rss() };
    await submit(LARGE_JOBS);
    const after = { heap: heap(), rss: rss() };
    await first.leave();
    service = undefined;
    const starts = { empty: [], full: [] };
    for (let start = 0; start < STARTS; start += 1) {
      const empty = await benchService({ maxSessions: 1 });
      starts.empty.push(empty.startMs);
      await empty.stop();
      service = await benchService({ maxSessions: 1 }, { home });
      starts.full.push(service.startMs);
      if (start < STARTS - 1) await service.leave();
    }
    const [empty, full] = [percentile(starts.empty, 0.5), percentile(starts.full, 0.5)];
    console.log(
      `  ${LARGE_JOBS} jobs of ${(job.length / 1_000).toFixed(0)} KB: heap ${before.heap.toFixed(1)} then ${after.heap.toFixed(1)} MB, ` +
        `rss ${before.rss.toFixed(0)} then ${after.rss.toFixed(0)} MB; a start ${empty.toFixed(0)} ms, with them ${full.toFixed(0)} ms`,
    );
    return [
      atMost('queue: MB that the heap grew by over 9,000 jobs of 100 KB', after.heap - before.heap, 20),
      atMost('queue: MB that the process grew by over them', after.rss - before.rss, 200),
      atMost('queue: ms that a start takes longer with 10,000 of them', full - empty, 3_000),
    ];
  } finally {
    await service?.stop();
    await rm(home, { recursive: true, force: true });
  }
}

/** A thousand small ones, whose clients come and go, and twenty of another caller. */
async function flood(rounds) {
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

/** @param call.text the body as it is, instead of `call.body` */
function callOf(port, { method, path, body, localAddress, text: whole }) {
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
    sent.end(whole ?? (body === undefined ? undefined : JSON.stringify(body)));
  });
}
