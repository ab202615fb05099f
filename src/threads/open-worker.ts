import { Worker, type WorkerOptions } from 'node:worker_threads';
import { endReason, threadError } from './thread-end.js';
import { noteThread } from './thread-faults.js';

/** Which thread it is, for people: see `threadError` and `ThreadFault`. */
export interface ThreadNames {
  readonly name: string;
  readonly part: string;
}

/**
 * Starts a worker without what the process has for itself: loaders, inspectors, and the keys in its environment. Whoever
 * calls it must listen to the worker's `error`, which would end the process.
 * @throws UNAVAILABLE if the system refuses the thread, which Node reports here or by an event
 */
export function openWorker(entry: URL, { name, part }: ThreadNames, options: WorkerOptions = {}): Worker {
  try {
    return new Worker(entry, { execArgv: [], env: {}, name, ...options });
  } catch (cause) {
    const error = threadError(name, false, endReason(cause), cause);
    noteThread(part, error.message);
    throw error;
  }
}
