import { createServer, type Server } from 'node:net';
import t from 'tap';
import { CallbackListener } from '#request-client/engine/oauth/callback-listener.js';
import { CALLBACK_PORTS } from '#request-client/protocol/request-window.js';
import { guardLeaks } from '../../../../test/support/leaks.js';

guardLeaks(t);
const expected = { state: 'abc', issuers: [] };

/** Null if another program has the port. */
function take(port: number, host: string): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => resolve(null));
    server.listen({ port, host, exclusive: true }, () => resolve(server));
  });
}

t.test('with the real four ports in use no login begins; with one free again it does, there', async (t) => {
  const taken = await Promise.all(CALLBACK_PORTS.map((port) => take(port, port === 8888 ? '0.0.0.0' : '127.0.0.1')));
  t.teardown(() =>
    Promise.all(taken.map((server) => new Promise<void>((done) => (server ? server.close(() => done()) : done())))),
  );
  await t.rejects(CallbackListener.open(expected), {
    code: 'LOGIN_FAILED',
    message: /all four callback ports are in use \(8080, 8888, 9090, 3000\); free one of them, or restart the client/,
    details: { cause: 'PORTS_TAKEN' },
  });
  const mine = taken.findIndex((server) => server !== null);
  if (mine === -1) return t.comment('all four belong to other programs of this machine');
  await new Promise((resolve) => taken[mine]?.close(resolve));
  const listener = await CallbackListener.open(expected);
  t.equal(listener.redirectUri, `http://127.0.0.1:${CALLBACK_PORTS[mine]}/callback`);
  listener.close();
});
