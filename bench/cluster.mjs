// Several nodes on one PostgreSQL database, beside one service with SQLite. How many of 100,000 queued jobs do four nodes
// claim in a second, and how long does a free slot wait for one? How many whole jobs do they run? What does it cost a script
// that another node passes it on? And what does the database do for an idle node, and for an event? Browsers cost nothing.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { setTimeout as pass } from 'node:timers/promises';
import { queueJobs } from '#troupe/journal/postgres/claim-writes.js';
import { connectPostgres } from '#troupe/journal/postgres/connect-postgres.js';
import { migratePostgres } from '#troupe/journal/postgres/migrate-postgres.js';
import { postgresPrograms, startPostgres } from '../test/support/postgres/server.mjs';
import { benchService } from './support/bench-service.mjs';
import { percentile } from './support/percentiles.mjs';
import { atLeast, atMost, printHeader, printSamples } from './support/print.mjs';

const NODES = 4;
const QUEUED = 100_000;
const SLOTS = 10;
/** Of these the first has queued four of five jobs. */
const CALLERS = 5;
const JOBS = 400;
const SCRIPTS = 3_000;
const IDLE_MS = 20_000;
const EVENTS = 20_000;
const EVENTS_A_SCRIPT = 500;
const KEY = 'a key that all nodes of this benchmark share';
/** The kernel counts processor time in hundredths of a second. */
const TICK_MS = 10;

const PARTS = { claims, jobs, forwarded, database };

/**
 * @param options.rounds jobs that are queued for `claims`
 * @param options.part one of `claims`, `jobs`, `forwarded`, `database`; all where absent
 */
export async function run({ rounds = QUEUED, part } = {}) {
  if (part !== undefined && !(part in PARTS)) throw new Error(`cluster has the parts ${Object.keys(PARTS).join(', ')}`);
  if (postgresPrograms() === null) throw new Error('PostgreSQL is not installed: run `npm run test:postgres` once');
  const targets = [];
  for (const [name, measure] of Object.entries(PARTS)) {
    if (part !== undefined && part !== name) continue;
    // With the durability that a user has.
    const server = await startPostgres(['fsync=on', 'full_page_writes=on', 'shared_buffers=128MB']);
    try {
      targets.push(...(await measure(server, rounds)));
    } finally {
      await server.remove();
    }
  }
  return targets;
}

async function claims(server, queued) {
  const url = server.url('postgres');
  const database = connectPostgres({ url, connections: 1, name: 'troupe bench' });
  await migratePostgres(database.kysely, url);
  const jobs = Array.from({ length: queued }, (_, n) => ({
    sessionId: `s${n}`,
    caller: `c${n < queued * 0.8 ? 0 : n % CALLERS}`,
  }));
  const callerOf = new Map(jobs.map(({ sessionId, caller }) => [sessionId, caller]));
  for (let from = 0; from < jobs.length; from += 5_000) {
    await database.kysely
      .transaction()
      .execute((transaction) => queueJobs(transaction, jobs.slice(from, from + 5_000)));
  }
  await database.close();
  const nodes = await Promise.all(
    Array.from({ length: NODES }, (_, n) =>
      started('cluster-claims', { url, id: `n${n}`, slots: SLOTS, expected: queued }),
    ),
  );
  const answers = nodes.map((node) => once(node, 'message'));
  for (const node of nodes) node.send('go');
  const parts = (await Promise.all(answers)).map(([part]) => part);
  const seconds = Math.max(...parts.map(({ tookMs }) => tookMs)) / 1000;
  await Promise.all(nodes.map(gone));
  const all = parts.flatMap(({ claimed }) => claimed);
  const waits = parts.flatMap((one) => one.waits);
  const early = parts.flatMap(({ claimed }) => claimed.slice(0, claimed.length / 10));
  const share = early.filter((id) => callerOf.get(id) === 'c0').length / early.length;
  console.log(
    `  ${NODES} nodes claimed ${all.length} jobs in ${seconds.toFixed(1)} s; the caller with four of five jobs had ` +
      `${(100 * share).toFixed(0)} % of the first tenth`,
  );
  printHeader();
  printSamples('a free slot waits for its job', waits, 'ms');
  return [
    atLeast('cluster: fair claims per second of four nodes', all.length / seconds, 400),
    atMost('cluster: ms that a free slot waits for its job, p99', percentile(waits, 0.99), 50),
    atMost('cluster: jobs that were claimed twice', all.length - new Set(all).size, 0),
    atMost('cluster: share of the caller with most jobs in the first tenth', share, 0.4),
  ];
}

/** Whole jobs: a thread, a sandbox and a flow each. */
async function jobs(server) {
  const alone = await benchService({ maxSessions: NODES * 2 }, { flows: { 'count.js': '() => 6 * 7' } });
  const one = await jobsPerSecond([alone.port]);
  await alone.stop();
  const nodes = await startNodes(server, NODES, { maxSessions: 2 });
  const several = await jobsPerSecond(nodes.map(({ port }) => port));
  await Promise.all(nodes.map(({ stop }) => stop()));
  console.log(
    `  ${JOBS} jobs: one service with SQLite ${one.toFixed(1)}/s, ${NODES} nodes on this machine ${several.toFixed(1)}/s`,
  );
  return [];
}

async function jobsPerSecond(ports) {
  const job = { prompt: 'count', flowFiles: ['count.js'], maxIterations: 0 };
  const from = performance.now();
  const { body } = await callOf(ports[0], 'POST', '/api/batches', { jobs: Array.from({ length: JOBS }, () => job) });
  for (;;) {
    const { body: batch } = await callOf(ports[0], 'GET', `/api/batches/${body.id}`);
    if (batch.counts.completed === JOBS) return (1000 * JOBS) / (performance.now() - from);
    if (batch.state !== 'running') throw new Error(`The batch is ${batch.state}: ${JSON.stringify(batch.counts)}`);
    await pass(100);
  }
}

async function forwarded(server) {
  const nodes = await startNodes(server, 2, { maxSessions: 2 });
  const [home, other] = nodes.map(({ port }) => port);
  const { body } = await callOf(home, 'POST', '/api/sessions', {});
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const samples = { direct: [], forwarded: [] };
  const path = `/sessions/${body.id}/proxy`;
  for (let n = 0; n < SCRIPTS; n += 1) {
    // In turns, so that both meet the same machine.
    for (const [kind, port] of n % 2 === 0
      ? [
          ['direct', home],
          ['forwarded', other],
        ]
      : [
          ['forwarded', other],
          ['direct', home],
        ]) {
      const at = performance.now();
      await callOf(port, 'POST', path, { js: '1+1' }, agent);
      if (n >= SCRIPTS / 10) samples[kind].push(performance.now() - at);
    }
  }
  agent.destroy();
  await Promise.all(nodes.map(({ stop }) => stop()));
  printHeader();
  printSamples('1+1, at its node', samples.direct, 'ms');
  printSamples('1+1, passed on', samples.forwarded, 'ms');
  const more = percentile(samples.forwarded, 0.99) - percentile(samples.direct, 0.99);
  return [atMost('cluster: ms that a script takes longer if it is passed on, p99', more, 1.5)];
}

async function database(server) {
  const nodes = await startNodes(server, NODES, { maxSessions: 2 });
  const database = connectPostgres({ url: server.url('postgres'), connections: 1, name: 'troupe bench' });
  const look = async () => {
    const { rows } = await query(
      database,
      "select xact_commit::float8 as commits, pg_current_wal_insert_lsn() - '0/0' as bytes from pg_stat_database where datname = current_database()",
    );
    return { commits: rows[0].commits, bytes: Number(rows[0].bytes), cpuMs: cpuMsOf(server.pid()) };
  };
  await pass(3_000);
  const before = await look();
  await pass(IDLE_MS);
  const idle = await look();
  const perNode = (what) => (idle[what] - before[what]) / NODES / (IDLE_MS / 1000);
  console.log(
    `  an idle node: ${perNode('commits').toFixed(1)} transactions/s, ${(perNode('bytes') / 1024).toFixed(2)} KB of WAL/s, ` +
      `${perNode('cpuMs').toFixed(2)} ms of the database's processor time a second`,
  );
  const { body } = await callOf(nodes[0].port, 'POST', '/api/sessions', {});
  const quiet = await look();
  const js = `for (let n = 0; n < ${EVENTS_A_SCRIPT}; n += 1) console.log(n)`;
  for (let n = 0; n < EVENTS / EVENTS_A_SCRIPT; n += 1)
    await callOf(nodes[0].port, 'POST', `/sessions/${body.id}/proxy`, { js });
  const { rows } = await query(
    database,
    "select count(*)::int as count from events where type = 'ConsoleMessage' or type like '%onsole%'",
  );
  const busy = await look();
  const count = Math.max(1, rows[0].count);
  console.log(
    `  an event (${count} written): ${((busy.bytes - quiet.bytes) / count).toFixed(0)} bytes of WAL, ` +
      `${((1000 * (busy.cpuMs - quiet.cpuMs)) / count).toFixed(0)} us of the database's processor time`,
  );
  await database.close();
  await Promise.all(nodes.map(({ stop }) => stop()));
  return [atMost("cluster: ms of the database's processor time for an idle node, a second", perNode('cpuMs'), 20)];
}

async function query(database, text) {
  const { sql } = await import('kysely');
  return sql.raw(text).execute(database.kysely);
}

/** Of a server and all its connections, as far as they live. */
function cpuMsOf(pid) {
  const stats = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return [{ pid: Number(name), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
  const own = stats.filter((one) => one.pid === pid || one.parent === pid);
  return own.reduce((sum, { ticks }) => sum + ticks, 0) * TICK_MS;
}

async function startNodes(server, count, settings) {
  const url = server.url('postgres');
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const port = await freePort();
      const node = { id: `n${n}`, url: `http://127.0.0.1:${port}` };
      const shared = { database: 'TROUPE_BENCH_DATABASE', clusterKey: 'TROUPE_BENCH_KEY', drainTimeout: 0 };
      const child = await started(
        'bench-node',
        { ...settings, ...shared, node, port },
        {
          TROUPE_BENCH_DATABASE: url,
          TROUPE_BENCH_KEY: KEY,
        },
      );
      return {
        port: child.port,
        async stop() {
          child.send('stop');
          await gone(child);
        },
      };
    }),
  );
}

/** A process of `bench/support`, once it has said that it is ready. */
async function started(name, settings, env = {}) {
  const child = fork(new URL(`./support/${name}.process.mjs`, import.meta.url), {
    env: { ...process.env, ...env, TROUPE_BENCH_NODE: JSON.stringify(settings) },
  });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${name} has ended`)));
  ended.catch(() => undefined);
  const [message] = await Promise.race([once(child, 'message'), ended]);
  return Object.assign(child, message);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function gone(child) {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

function callOf(port, method, path, body, agent = false) {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => {
        if (response.statusCode >= 300) reject(new Error(`${method} ${path} answered ${response.statusCode}: ${text}`));
        else resolve({ status: response.statusCode, body: JSON.parse(text) });
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
