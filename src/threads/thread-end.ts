import { errorCode, sentenceOf } from '../base/system-fault.js';
import { TroupeError } from '../protocol/errors.js';

/** Why the system refuses a thread, by the text of Node's error, and what to do. */
const REFUSALS = [
  [
    /EAGAIN/,
    'EAGAIN',
    'raise the limit of processes (ulimit -u, TasksMax, pids_limit), or set a smaller `maxSessions`',
  ],
  [/EMFILE/, 'EMFILE', 'raise the limit of open files (ulimit -n, LimitNOFILE), or set a smaller `maxSessions`'],
] as const;

/** Why a thread ended, as one line for people. */
export function endReason(thrown: unknown, heapMb?: number): string {
  if (errorCode(thrown) === 'ERR_WORKER_OUT_OF_MEMORY') {
    return heapMb === undefined ? 'it ran out of memory' : `it needed more than ${heapMb} MB of memory`;
  }
  const [line = ''] = sentenceOf(thrown).split('\n');
  if (errorCode(thrown) !== 'ERR_WORKER_INIT_FAILED') return line;
  const [, code, remedy] = REFUSALS.find(([pattern]) => pattern.test(line)) ?? [];
  return code === undefined ? line : `the system refuses it (${code}); ${remedy}`;
}

/**
 * The error of a thread that could not start, or that ended during its task. `details.started` tells which.
 * @param name what people call the thread, such as "report"
 */
export function threadError(name: string, started: boolean, reason: string, cause?: unknown): TroupeError {
  const what = started ? 'ended' : 'could not start';
  return new TroupeError('UNAVAILABLE', `The ${name} thread ${what}: ${reason}`, { thread: name, started }, { cause });
}

/** Whether an error is one of {@link threadError}. */
export function isThreadError(error: unknown): boolean {
  return error instanceof TroupeError && typeof error.details?.thread === 'string';
}

/** Whether an error is one of {@link threadError}, of a thread that could not start. */
export function couldNotStart(error: unknown): boolean {
  return isThreadError(error) && error instanceof TroupeError && error.details?.started === false;
}
