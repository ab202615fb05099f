import t from 'tap';
import { serviceReach } from '#request-client/engine/flow/service-reach.js';
import type { PreparedRequest } from '#request-client/engine/run/prepared-request.js';
import { requestTarget } from '#request-client/engine/run/request-target.js';
import { HttpSender } from '#request-client/engine/run/send-request.js';
import { guardLeaks } from '../../../../test/support/leaks.js';
import { startEcho } from '../../window/window-fixture.js';

guardLeaks(t);
const { admit: admitRequest } = serviceReach({
  ownPort: 4444,
  egress: {
    service: { deny: ['*.denied.test', '10.0.0.0/8'] },
    session: { allow: ['shop.test', '192.0.2.0/24', 'localhost', '127.0.0.1'] },
  },
});
const REQUEST: PreparedRequest = {
  method: 'GET',
  url: '',
  headers: [],
  withoutHeaders: [],
  body: { kind: 'none' },
  settings: { followRedirects: true, verifyTls: true, encodeUrl: true },
};
const admit = (host: string, port: number) =>
  admitRequest(REQUEST, requestTarget(`http://${host.includes('::') ? `[${host}]` : host}:${port}`, true));
const refused = { code: 'REQUEST_FAILED', details: { cause: 'EGRESS' } };

t.test('the service itself, metadata and listed hosts are refused as written', async (t) => {
  for (const [host, port] of [
    ['127.0.0.1', 4444],
    ['localhost', 4444],
    ['LOCALHOST.', 4444],
    ['::1', 4444],
    ['169.254.169.254', 80],
    ['a.denied.test', 80],
    ['10.1.2.3', 80],
    ['198.51.100.1', 80],
  ] as const) {
    t.throws(() => admit(host, port), refused, `${host}:${port}`);
  }
  for (const [host, port] of [
    ['127.0.0.1', 4500],
    ['localhost', 4500],
    ['192.0.2.7', 80],
    ['shop.test', 80],
  ] as const) {
    t.doesNotThrow(() => admit(host, port), `${host}:${port}`);
  }
});

t.test('a redirect does not reach a blocked host', async (t) => {
  const echo = await startEcho(t);
  const { port } = new URL(echo.origin);
  const sender = new HttpSender(serviceReach({ ownPort: Number(port), egress: { service: {}, session: {} } }));
  t.teardown(() => sender.close());
  const send = (url: string) => sender.send({ ...REQUEST, url }, { timeoutMs: 5000, folder: '.' });
  await t.rejects(send(`http://localhost:${port}/`), refused);
  const from = await startEcho(t);
  from.redirect = `http://localhost:${port}/`;
  await t.rejects(send(from.origin.replace('127.0.0.1', 'localhost')), refused);
  t.equal(from.heard.length, 1);
  t.equal(echo.heard.length, 0);
});
