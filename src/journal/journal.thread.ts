import { parentPort, workerData } from 'node:worker_threads';
import { encodeError } from '../protocol/errors.js';
import type { JournalOpened } from './messages.js';
import { serveRequests } from './serve-requests.js';
import { explainSqliteError } from './sqlite-errors.js';
import { Store } from './store.js';

// Entry of the journal's thread: opens the file named by workerData, reports the outcome, and serves requests until
// closed.
const file: unknown = workerData;
if (parentPort === null || typeof file !== 'string') throw new TypeError('This module must run as the journal thread');
try {
  const store = Store.open(file);
  if (store instanceof Store) {
    const opened: JournalOpened = { opened: true, ...(await store.identity()) };
    serveRequests(parentPort, store, file);
    parentPort.postMessage(opened);
  } else {
    const damaged: JournalOpened = { opened: 'damaged', tables: store };
    parentPort.postMessage(damaged);
  }
} catch (error) {
  const refused: JournalOpened = { opened: false, error: encodeError(explainSqliteError(file, error)) };
  parentPort.postMessage(refused);
}
