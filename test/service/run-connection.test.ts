import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { runBatch } from '#troupe/cli/run/run-batch.js';
import { RunReports } from '#troupe/cli/run/run-reports.js';
import { ServiceClient } from '#troupe/cli/service-client.js';
import { BatchRequest } from '#troupe/protocol/batches/batch.js';
import { guardLeaks } from '../support/leaks.js';
import { startTestService, type Teardown } from '../support/service.js';

guardLeaks(t);

/** Stands between a client and a service, and cuts the first connection of each GET that is about a session. */
async function cuttingProxy(t: Teardown, target: string): Promise<{ readonly url: string; readonly cut: string[] }> {
  const cut: string[] = [];
  const server = createServer((arrived, answer) => {
    const { method, url = '', headers } = arrived;
    if (method === 'GET' && url.startsWith('/api/sessions/') && !cut.includes(url)) {
      cut.push(url);
      arrived.destroy();
      return;
    }
    const passed = request(new URL(url, target), { method, headers, agent: false }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    arrived.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut };
}

t.test('A run whose connection is cut asks again, and stops nothing', async (t) => {
  const service = await startTestService(t);
  const { url, cut } = await cuttingProxy(t, service.url);
  const client = new ServiceClient(url, { token: null });
  const reports = new RunReports(client, t.testdir(), true);
  const ended: string[] = [];
  const nothing = () => undefined;
  const listener = { started: nothing, waits: nothing, resumed: nothing, cancelling: nothing, notNotified: nothing };
  await runBatch(
    client,
    BatchRequest.parse({
      jobs: [{ prompt: 'x', flowFiles: ['one.js'], maxIterations: 0 }],
      flows: { 'one.js': '() => 1' },
    }),
    {
      ...listener,
      stopFailed: (error) => t.error(error),
      ended: (_, { id, status }) => {
        ended.push(status);
        reports.add(id, 'one');
        return false;
      },
    },
    { cancelled: new AbortController().signal, hurried: new Promise(() => undefined) },
  );
  t.same(ended, ['completed']);
  t.same(await reports.done(), { unfetched: [], unwritten: [] });
  t.equal((await reports.read('one'))?.status, 'completed');
  t.equal(cut.length, 2, 'the record and the report were cut once');
});
