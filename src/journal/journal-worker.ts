import type { Worker } from 'node:worker_threads';
import { withDeadline } from '../base/deadline.js';
import { TroupeError } from '../protocol/errors.js';
import { openWorker } from '../threads/open-worker.js';
import type { JournalOpened, JournalPlace } from './messages.js';

/**
 * Replaying a long write-ahead log after a crash takes time, and so does copying the readable rows of a damaged file.
 */
const OPEN_DEADLINE_MS = 120_000;

const ENTRY = new URL('./journal.thread.js', import.meta.url);
const NAMES = { name: 'journal', part: 'journal' };

/** Starts the journal's thread, which opens the database. The caller must terminate the thread. */
export function startWorker(place: JournalPlace, entry = ENTRY): Worker {
  const worker = openWorker(entry, NAMES, { workerData: place });
  // One at least, also while it is ended for another reason: an error without a listener would end the process.
  worker.on('error', () => undefined);
  return worker;
}

/**
 * Waits for the thread's first message: whether it could open the database.
 * @throws UNAVAILABLE if the thread does not report in time
 */
export async function firstMessage(worker: Worker): Promise<JournalOpened> {
  let removeListeners = () => {};
  const message = new Promise<JournalOpened>((resolve, reject) => {
    const onExit = (code: number) =>
      reject(
        new TroupeError('UNAVAILABLE', `The journal's thread exited with code ${code} before the database was open`),
      );
    worker.on('message', resolve).on('error', reject).on('exit', onExit);
    // Removed one by one: removeAllListeners() would also remove the Worker's own listeners, and no message would
    // arrive.
    removeListeners = () => worker.off('message', resolve).off('error', reject).off('exit', onExit);
  });
  const late = () => new TroupeError('UNAVAILABLE', `The journal did not open within ${OPEN_DEADLINE_MS} ms`);
  try {
    return await withDeadline(message, { ms: OPEN_DEADLINE_MS, late });
  } finally {
    removeListeners();
  }
}
