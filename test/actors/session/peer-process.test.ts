import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import t from 'tap';
import { comesFrom, inodeOf } from '#troupe/actors/session/connection/peer-process.js';
import { guardLeaks } from '../../support/leaks.js';

guardLeaks(t);

t.test('A connection is known by the process that has its socket', async (t) => {
  const server = createServer((socket) => socket.resume());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const client = connect(port, '127.0.0.1');
  await once(client, 'connect');
  t.teardown(() => {
    client.destroy();
    server.close();
  });
  const from = client.localPort ?? 0;
  t.equal(await comesFrom(process.pid, from, port), process.platform === 'linux');
  t.notOk(await comesFrom(process.ppid, from, port), 'of another process');
  t.notOk(await comesFrom(2 ** 30, from, port), 'of no process');
});

t.test('The table of connections is read by both ports', async (t) => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:1F90 0100007F:0050 01 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 20 4 30 10 -1',
  ].join('\n');
  t.equal(inodeOf(table, 8080, 80), '4711');
  t.equal(inodeOf(table, 80, 8080), null);
  t.equal(inodeOf('', 1, 2), null);
});
