import { parentPort, workerData } from 'node:worker_threads';
import { sentenceOf } from '../../base/system-fault.js';
import type { GateAnswer, GateMessage } from './gate-messages.js';
import { ProxyListeners } from './proxy-listeners.js';

const port = parentPort;
if (port === null) throw new Error('This file is a thread of the network gate');

const doors = new ProxyListeners(workerData);
port.on('message', (message: GateMessage) => {
  doors.handle(message).then(
    (port) => answer(message, { port }),
    (error: unknown) => answer(message, { fault: sentenceOf(error) }),
  );
});

function answer(message: GateMessage, outcome: { port?: number | undefined; fault?: string }): void {
  if (!('call' in message)) return;
  const { port: opened, fault } = outcome;
  const said: GateAnswer = {
    call: message.call,
    ...(opened === undefined ? {} : { port: opened }),
    ...(fault === undefined ? {} : { fault }),
  };
  port?.postMessage(said);
}
