import { Worker } from 'node:worker_threads';
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
  const late = new TroupeError('UNAVAILABLE', `The journal did not open within ${OPEN_DEADLINE_MS} ms`);
  try {
    return await within(message, OPEN_DEADLINE_MS, late);
  } finally {
    forget();
  }
}

/** @throws `late` when the work takes longer */
export async function within<T>(work: Promise<T>, ms: number, late: TroupeError): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late), ms);
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
