import { parentPort, workerData } from 'node:worker_threads';
import { encodeError } from '../protocol/errors.js';
import type { JournalOpened, JournalPlace } from './messages.js';
import { openStore } from './open-store.js';
import { serveRequests } from './serve-requests.js';

// Entry of the journal's thread: opens the database that workerData names, reports the outcome, and serves requests
// until closed.
if (parentPort === null) throw new TypeError('This module must run as the journal thread');
const place: JournalPlace = workerData;
try {
  const store = await openStore(place);
  if ('commit' in store) {
    const opened: JournalOpened = { opened: true, ...(await store.identity()) };
    serveRequests(parentPort, store);
    parentPort.postMessage(opened);
    // After the replies that are under way: the owner then finds that its journal has failed.
    void store.lost?.then((error) => setImmediate(() => fail(error)));
  } else {
    const damaged: JournalOpened = { opened: 'damaged', tables: store };
    parentPort.postMessage(damaged);
  }
} catch (error) {
  const refused: JournalOpened = { opened: false, error: encodeError(error) };
  parentPort.postMessage(refused);
}

function fail(error: Error): never {
  throw error;
}
