// comlink's side of bench/actors.
import { parentPort } from 'node:worker_threads';
import { expose } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';

expose({ echo: (payload) => payload }, nodeEndpoint(parentPort));
