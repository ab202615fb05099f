// Run a Postman collection: does each request end as with newman, assertion by assertion? Both run the same collections against
// the same local echo server: those of `support/collection-corpus.mjs`, written after the kinds of suites that public repositories
// show, or with `--dir DIR` every collection of a folder, whose hosts are answered by the echo server through a variable. For
// collections about settings and addresses, what the server received is compared as well.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import '../scripts/test-loader.mjs';
import { COLLECTIONS } from './support/collection-corpus.mjs';
import { atLeast } from './support/print.mjs';

export async function run({ dir } = {}) {
  const { EchoServer } = await import('../request-client/test/echo-server.ts');
  const { byNewman, byTroupe, differences } = await import(
    '../request-client/test/engine/collection-run/beside-newman.ts'
  );
  const server = await EchoServer.start();
  const totals = { requests: 0, alike: 0 };
  try {
    for (const { name, wanted } of dir === undefined ? own(server.origin) : inFolder(dir)) {
      const [ours, theirs] = [await byTroupe(wanted), await byNewman(wanted)];
      const differing = differences(ours, theirs);
      const requests = Math.max(ours.ran.length, theirs.ran.length);
      const assertions = theirs.ran.reduce((sum, one) => sum + one.assertions.length, 0);
      totals.requests += requests;
      totals.alike += requests - differing.length;
      console.log(
        `  ${name.padEnd(40)}${String(requests - differing.length).padStart(6)} of ${requests} requests alike, ${assertions} assertions`,
      );
      for (const line of differing.slice(0, 20)) console.log(`      ${line}`);
    }
  } finally {
    await server.close();
  }
  if (dir === undefined) {
    const { requests, alike } = await whatIsSent(byTroupe, byNewman);
    totals.requests += requests;
    totals.alike += alike;
  }
  return [atLeast('requests that end as with newman', totals.alike / Math.max(1, totals.requests), 0.98)];
}

/** What is known to differ is printed with its reason, and not counted. */
async function whatIsSent(byTroupe, byNewman) {
  const { caseFor, POSTMAN_CASES, startRecordingServer } = await import(
    '../request-client/test/engine/collection-run/postman-requests.ts'
  );
  const server = await startRecordingServer();
  const totals = { requests: 0, alike: 0 };
  try {
    for (const one of POSTMAN_CASES) {
      const { collection, environment } = caseFor(one, server);
      await byTroupe({ collection, environment });
      const ours = server.take();
      await byNewman({ collection, environment });
      const theirs = server.take();
      const count = Math.max(ours.length, theirs.length);
      const alike = ours.filter((line, index) => line === theirs[index]).length;
      const differs = one.unlikeNewman === undefined ? '' : `; not counted: newman differs, ${one.unlikeNewman}`;
      console.log(`  ${one.name.slice(0, 39).padEnd(40)}${String(alike).padStart(6)} of ${count} sent alike${differs}`);
      if (one.unlikeNewman !== undefined) continue;
      totals.requests += count;
      totals.alike += alike;
    }
  } finally {
    await server.close();
  }
  return totals;
}

function own(origin) {
  return COLLECTIONS.map(({ data, environment, ...collection }) => ({
    name: collection.info.name,
    wanted: {
      collection: { ...collection, variable: [...(collection.variable ?? []), { key: 'base', value: origin }] },
      ...(data === undefined ? {} : { data }),
      ...(environment === undefined ? {} : { environment }),
    },
  }));
}

/** Collections as they are: their requests go where they lead. */
function inFolder(dir) {
  return readdirSync(dir)
    .filter((file) => file.endsWith('.json'))
    .map((file) => ({
      name: file,
      wanted: { collection: JSON.parse(readFileSync(join(dir, file), 'utf8')), folder: dir, timeoutMs: 5000 },
    }));
}
