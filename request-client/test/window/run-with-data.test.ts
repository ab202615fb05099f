import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import type { ProgressLine } from '#request-client/protocol/request-window.js';
import { Workspace } from '#request-client/window/workspace.js';
import { guardLeaks } from '../../../test/support/leaks.js';

guardLeaks(t);

t.test('a run of the window with a data file sends the requests once for each row', async (t) => {
  const heard: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    heard.push(request.url);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  t.teardown(() => server.close());
  const file = join(t.testdir(), 'shop.json');
  const request = { method: 'GET', url: `http://127.0.0.1:${port}/{{user}}/{{id}}` };
  writeFileSync(file, JSON.stringify({ info: { name: 'Shop' }, item: [{ name: 'One', request }] }));
  const workspace = new Workspace({ openBrowser: async () => undefined });
  t.teardown(() => workspace.close());
  await workspace.open(file);
  const lines: ProgressLine[] = [];
  const run = async (name: string, text: string): Promise<void> => {
    const options = { iterations: 9, stopAtFailure: false, data: { name, text } };
    await workspace.run('collection', options, (line) => lines.push(line), new AbortController().signal);
  };
  await run('users.csv', 'user,id\nada,1\n"b,c",2\n');
  await run('users.json', '[{"user": "eve", "id": 3}]');
  t.strictSame(heard, ['/ada/1', '/b,c/2', '/eve/3']);
  const iterations = lines.flatMap((line) => (line.kind === 'result' ? [line.result.iteration] : []));
  t.strictSame(iterations, [1, 2, 1]);
  await t.rejects(run('empty.csv', 'user,id\n'), { code: 'INVALID_REQUEST', message: /empty\.csv has no rows/ });
  await t.rejects(run('many.csv', `id\n${'1\n'.repeat(10_001)}`), { message: /at most 10000/ });
});
