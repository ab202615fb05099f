// The clients of bench/readers: they count what they are sent, and look at nothing more.
import { once } from 'node:events';
import { connect } from 'node:net';

const MARK = Buffer.from('\nevent: ');
const OPENED_AT_ONCE = 25;
let events = 0;
let whole = 0;

process.on('message', async (order) => {
  if (order.type === 'open') await openAll(order);
  process.send({ events, whole });
});
process.on('disconnect', () => process.exit());

async function openAll(order) {
  for (let opened = 0; opened < order.count; opened += OPENED_AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(OPENED_AT_ONCE, order.count - opened) }, () => open(order)));
  }
}

async function open(order) {
  const { port, address, path, reads, again } = order;
  const socket = connect({ port, host: '127.0.0.1', localAddress: address });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  if (!reads) {
    socket.pause();
    return;
  }
  let own = 0;
  let rest = Buffer.alloc(0);
  socket.on('data', (data) => {
    const text = rest.length === 0 ? data : Buffer.concat([rest, data]);
    let found = 0;
    let from = 0;
    for (let at = text.indexOf(MARK); at !== -1; at = text.indexOf(MARK, from)) {
      found += 1;
      from = at + MARK.length;
    }
    rest = Buffer.from(text.subarray(Math.max(from, text.length - MARK.length + 1)));
    own += found;
    events += found;
    if (again === undefined || own < again) return;
    whole += 1;
    socket.destroy();
    void open(order);
  });
}
