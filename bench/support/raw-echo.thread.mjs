// The floor of bench/actors: a message there, the same message back.
import { parentPort } from 'node:worker_threads';

parentPort.on('message', (message) => parentPort.postMessage(message));
