// Does one who floods the service keep another waiting? A token submits a suite of jobs alone, then again while another
// token's 5,000 wait. The browsers are none, so that what is measured is who comes when.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { benchService } from './support/bench-service.mjs';
import { percentile } from './support/percentiles.mjs';
import { atMost, printHeader, printSamples } from './support/print.mjs';

const PLACES = 4;
const SUITE = 80;
const FLOOD = 5_000;
/** What has begun before the suite comes. */
const BEGUN = 80;
const LOOK_MS = 100;

export async function run() {
  const service = await benchService({ maxSessions: PLACES, maxQueue: 10_000 });
  try {
    await mkdir(join(service.home, 'flows'), { recursive: true });
    await writeFile(join(service.home, 'flows', 'tick.js'), '() => 1');
    const admin = await token(service.url, undefined, 'admin');
    // Two of them, since what a token had a moment ago counts.
    const [ci, sameAsCi] = [await token(service.url, admin, 'run'), await token(service.url, admin, 'run')];
    const flood = await token(service.url, admin, 'run');
    const alone = await waitsOf(service.url, ci, await submit(service.url, ci, SUITE));
    await submit(service.url, flood, FLOOD);
    await begun(service.url, admin, BEGUN);
    const beside = await waitsOf(service.url, sameAsCi, await submit(service.url, sameAsCi, SUITE));
    printHeader();
    printSamples('wait for a place, alone', alone, 'ms');
    printSamples(`beside ${FLOOD} of another`, beside, 'ms');
    return [atMost('p99 wait beside a flood against alone', percentile(beside, 0.99) / percentile(alone, 0.99), 2)];
  } finally {
    await service.stop();
  }
}

async function call(url, secret, method, path, body) {
  const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
  const response = await fetch(url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer;
}

async function token(url, secret, role) {
  return (await call(url, secret, 'POST', '/api/tokens', { name: role, role })).token;
}

async function submit(url, secret, count) {
  const job = { prompt: 'x', flowFiles: ['tick.js'], maxIterations: 0 };
  const { id } = await call(url, secret, 'POST', '/api/batches', { jobs: Array.from({ length: count }, () => job) });
  return id;
}

/** How long each job of a batch waited from its submission to its start. */
async function waitsOf(url, secret, batch) {
  for (;;) {
    const { counts } = await call(url, secret, 'GET', `/api/batches/${batch}`);
    if (counts.queued + counts.running === 0) break;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  const records = (await call(url, secret, 'GET', '/api/sessions?limit=1000')).filter((one) => one.batch === batch);
  return records.map(({ createdAt, startedAt }) => Date.parse(startedAt) - Date.parse(createdAt));
}

async function begun(url, secret, count) {
  for (;;) {
    const ended = await call(url, secret, 'GET', `/api/jobs?state=completed&limit=1000`);
    if (ended.length >= count + SUITE) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
