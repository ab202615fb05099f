import { Worker } from 'node:worker_threads';
import { withDeadline } from '../base/deadline.js';
import { TroupeError } from '../protocol/errors.js';
import type { JournalOpened } from './messages.js';

/** Bringing a long log of changes back after a crash takes its time, and so does copying what a damaged file has left. */
const OPEN_DEADLINE_MS = 120_000;

/** Starts the journal's thread, which opens the file. The caller terminates it. */
export function startWorker(file: string): Worker {
  return new Worker(new URL('./journal.thread.js', import.meta.url), {
    workerData: file,
    name: 'journal',
    // The thread needs nothing of what the process was started with (loaders, inspectors).
    execArgv: [],
    env: {},
  });
}

/** Whether it could open the file. @throws UNAVAILABLE when the thread does not say so in time */
export async function firstMessage(worker: Worker): Promise<JournalOpened> {
  let forget = () => {};
  const message = new Promise<JournalOpened>((resolve, reject) => {
    const onExit = (code: number) =>
      reject(new TroupeError('UNAVAILABLE', `The journal's thread ended (${code}) before the file was open`));
    worker.on('message', resolve).on('error', reject).on('exit', onExit);
    // One by one: removeAllListeners() would also cut a Worker's own, after which no message ever comes.
    forget = () => worker.off('message', resolve).off('error', reject).off('exit', onExit);
  });
  const late = () => new TroupeError('UNAVAILABLE', `The journal did not open within ${OPEN_DEADLINE_MS} ms`);
  try {
    return await withDeadline(message, { ms: OPEN_DEADLINE_MS, late });
  } finally {
    forget();
  }
}
