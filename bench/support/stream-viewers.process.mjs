// The pages of bench/stream: they unpack what they are sent, as a browser would.
import { once } from 'node:events';
import { unpack } from 'msgpackr';
import { WebSocket } from 'ws';

const AT_ONCE = 50;
let sockets = [];
let samples = [];

process.on('message', async ({ type, url, requests }) => {
  if (type === 'open') process.send(await open(url, requests));
  else if (type === 'samples') process.send(samples.splice(0));
  else process.send(await leave());
});
process.on('disconnect', () => process.exit());

async function open(url, requests) {
  for (let at = 0; at < requests.length; at += AT_ONCE) {
    await Promise.all(requests.slice(at, at + AT_ONCE).map((request) => openOne(url, request)));
  }
  return sockets.length;
}

async function openOne(url, request) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  sockets.push(socket);
  socket.on('message', (data) => hear(unpack(data)));
  await once(socket, 'open');
  if (request !== null) socket.send(JSON.stringify(request));
}

function hear(message) {
  if (message.type !== 'events') return;
  const now = Date.now();
  for (const { type, at } of message.events) if (type === 'ConsoleWritten') samples.push(now - Date.parse(at));
}

async function leave() {
  const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
  for (const socket of sockets) socket.close();
  sockets = [];
  await closed;
  samples = [];
  return 0;
}
