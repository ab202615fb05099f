// A node that claims jobs and ends each at once, with the rules, the SQL and the token check of a whole service: started
// by `bench/cluster.mjs`. Sends what it has claimed when nothing is queued any more.
import { randomUUID } from 'node:crypto';
import { ClusterNode } from '#troupe/cluster/cluster-node.js';
import { leaseTimes } from '#troupe/cluster/lease-times.js';
import { endClaims, lockClaims } from '#troupe/journal/postgres/claim-writes.js';
import { connectPostgres } from '#troupe/journal/postgres/connect-postgres.js';

const { url, id, slots, expected } = JSON.parse(process.env.TROUPE_BENCH_NODE ?? '{}');
const database = connectPostgres({ url, connections: 2, name: 'troupe bench' });
const claimed = [];
const waits = [];
/** When each free slot became free. */
const freeSince = Array.from({ length: slots }, () => performance.now());
let ended = [];
let writing = false;
let firstMs = 0;
let lastMs = 0;

const node = await ClusterNode.join({
  url,
  times: leaseTimes(),
  log: (line) => console.error(`${id}: ${line}`),
  node: {
    ...{ id, home: randomUUID(), url: 'http://127.0.0.1:1', version: 'bench', schema: 1, slots },
    keyFingerprint: 'bench',
  },
});
process.send?.({ joined: true });
process.once('message', () => {
  firstMs = performance.now();
  freeSince.fill(firstMs);
  node.serve({
    run(claim) {
      const now = performance.now();
      waits.push(now - (freeSince.shift() ?? now));
      claimed.push(claim.sessionId);
      lastMs = now;
      ended.push(claim);
      void write();
    },
    recover: () => undefined,
    maxRunning: () => undefined,
    lost: () => undefined,
    stop: async () => undefined,
    news: () => undefined,
    renewed: () => undefined,
  });
});

/** As the journal does: what waits when a transaction begins shares it. */
async function write() {
  if (writing) return;
  writing = true;
  while (ended.length > 0) {
    const claims = ended;
    ended = [];
    await database.kysely.transaction().execute(async (transaction) => {
      const stale = await lockClaims(transaction, claims);
      if (stale.length > 0) throw new Error('a claim is stale');
      await endClaims(
        transaction,
        claims.map(({ sessionId }) => sessionId),
      );
    });
    for (const { sessionId } of claims) {
      freeSince.push(performance.now());
      node.release(sessionId);
    }
  }
  writing = false;
}

const over = setInterval(async () => {
  const left = await database.kysely.selectFrom('cluster_queue').select('session_id').limit(1).execute();
  if (left.length > 0 || ended.length > 0 || writing || claimed.length > expected) return;
  clearInterval(over);
  process.send?.({ claimed, waits, tookMs: lastMs - firstMs });
  await node.close();
  await database.close();
  process.disconnect();
}, 500);
