import { parentPort, workerData } from 'node:worker_threads';
import { Doors } from './doors.js';
import type { GateAnswer, GateMessage } from './gate-messages.js';

const port = parentPort;
if (port === null) throw new Error('This file is a thread of the network gate');

const doors = new Doors(workerData);
port.on('message', (message: GateMessage) => {
  doors.handle(message).then(
    () => answer(message),
    (error: unknown) => answer(message, String(error)),
  );
});

function answer(message: GateMessage, fault?: string): void {
  if (!('call' in message)) return;
  const said: GateAnswer = { call: message.call, ...(fault === undefined ? {} : { fault }) };
  port?.postMessage(said);
}
