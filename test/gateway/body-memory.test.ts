import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { BodyMemory } from '#troupe/gateway/http/body-memory.js';
import type { Gateway } from '#troupe/gateway/server.js';
import { openHouse } from '../support/house.js';
import { httpCall } from '../support/http-call.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

const MIB = 1024 * 1024;

const house = await openHouse(t);
const { id } = await house.live();
const listen = () => house.listen({ bodyBytes: 4 * MIB });

/** A connection that sent the beginning of a body. */
async function begin(gateway: Gateway, line: string, declared: number, bytes: number): Promise<Socket> {
  const socket = connect(gateway.port, '127.0.0.1');
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  socket.write(`${line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${declared}\r\n\r\n`);
  await new Promise((resolve) => socket.write(Buffer.alloc(bytes, ' '), resolve));
  return socket;
}

t.test(
  'bodies that are being received share a limit; short ones always get through, and finished ones release their share',
  async (t) => {
    const gateway = await listen();
    const path = '/api/batches';
    const large = () => httpCall(gateway.url, { method: 'POST', path, body: Buffer.alloc(2 * MIB, ' ') });
    t.equal((await large()).status, 400, 'there is room, and an empty body is no batch');
    const held = await Promise.all([1, 2, 3].map(() => begin(gateway, `POST ${path}`, 3 * MIB, 1.2 * MIB)));
    let answer = await large();
    // The service may not have read the bytes yet.
    while (answer.status === 400) answer = await large();
    t.match(answer, { status: 503, json: { code: 'UNAVAILABLE', error: /send this one again/ } });
    t.ok(Number(answer.headers['retry-after']) >= 1);
    const short = await httpCall(gateway.url, { method: 'POST', path, body: Buffer.alloc(60_000, ' ') });
    t.equal(short.status, 400);
    for (const socket of held) socket.destroy();
    while (answer.status === 503) answer = await large();
    t.equal(answer.status, 400);
  },
);

t.test('uploads reserve what they may keep in memory', async (t) => {
  const gateway = await listen();
  const place = (n: number) => `/api/sessions/${id}/files/${n}.bin`;
  const held = await Promise.all(
    Array.from({ length: 30 }, (_, n) => begin(gateway, `PUT ${place(n)}`, 10 * MIB, 1000)),
  );
  const put = () => httpCall(gateway.url, { method: 'PUT', path: place(99), body: Buffer.alloc(MIB) });
  let answer = await put();
  while (answer.status === 201) answer = await put();
  t.match(answer, { status: 503, json: { code: 'UNAVAILABLE' } });
  for (const socket of held) socket.destroy();
  while (answer.status === 503) answer = await put();
  t.equal(answer.status, 201);
});

t.test('a refused share reserves nothing, and releasing twice releases once', (t) => {
  const memory = new BodyMemory(1000);
  const one = memory.share();
  const two = memory.share();
  t.ok(one.take(64 * 1024 + 600));
  t.notOk(two.take(64 * 1024 + 500));
  t.ok(memory.share().take(64 * 1024));
  one.release();
  one.release();
  t.ok(memory.share().take(64 * 1024 + 1000));
  t.notOk(memory.share().take(64 * 1024 + 1));
  t.end();
});
