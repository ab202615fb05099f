import { parentPort, workerData } from 'node:worker_threads';
import { expose } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { ProxyListeners } from './proxy-listeners.js';

if (parentPort === null) throw new Error('This file is a thread of the network gate');
expose(new ProxyListeners(workerData), nodeEndpoint(parentPort));
