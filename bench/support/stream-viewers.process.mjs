// The pages of bench/stream: they unpack what they are sent, as a browser would.
import { once } from 'node:events';
import { unpack } from 'msgpackr';
import { WebSocket } from 'ws';

const AT_ONCE = 50;
let sockets = [];
let late = [];
let frames = 0;

process.on('message', async ({ type, url, asked }) => {
  if (type === 'open') process.send(await open(url, asked));
  else if (type === 'samples') process.send(take());
  else process.send(await leave());
});
process.on('disconnect', () => process.exit());

async function open(url, asked) {
  for (let at = 0; at < asked.length; at += AT_ONCE) {
    await Promise.all(asked.slice(at, at + AT_ONCE).map((requests) => openOne(url, requests)));
  }
  return sockets.length;
}

async function openOne(url, requests) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  sockets.push(socket);
  socket.on('message', (data) => hear(unpack(data)));
  await once(socket, 'open');
  for (const request of requests) socket.send(JSON.stringify(request));
}

function hear(message) {
  if (message.type === 'frame') frames += 1;
  if (message.type !== 'events') return;
  const now = Date.now();
  for (const { type, at } of message.events) if (type === 'ConsoleWritten') late.push(now - Date.parse(at));
}

function take() {
  const taken = { late, frames };
  late = [];
  frames = 0;
  return taken;
}

async function leave() {
  const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
  for (const socket of sockets) socket.close();
  sockets = [];
  await closed;
  take();
  return 0;
}
