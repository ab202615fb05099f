import type { Worker } from 'node:worker_threads';
import { type Remote, wrap } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { settlesWithin } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import { openWorker } from '../../threads/open-worker.js';
import { endReason } from '../../threads/thread-end.js';
import { noteThread } from '../../threads/thread-faults.js';
import type { PlaywrightCalls } from '../thread/playwright.thread.js';

/** A thread that does not answer this long, in milliseconds, is replaced. */
const ANSWER_MS = 3_000;
/** A page can make Playwright hold much; this ends the thread alone. */
const MAX_HEAP_MB = 512;

const NAMES = { name: 'Playwright', part: 'Playwright' };

/** Playwright's thread while it lives. */
export interface RunningThread {
  readonly calls: Remote<PlaywrightCalls>;
  /** Aborted with SESSION_RESTARTED and the reason when the thread has ended. */
  readonly ended: AbortSignal;
}

let running: (RunningThread & { readonly worker: Worker }) | null = null;

/**
 * The thread on which Playwright runs for all sessions of this session thread; started by the first call, 0.4 s, and it
 * ends with the session thread. It is its own since Playwright's AsyncLocalStorage makes every promise of its thread
 * dearer.
 */
export function playwrightThread(): RunningThread {
  if (running !== null) return running;
  const worker = openWorker(new URL('../thread/playwright.thread.js', import.meta.url), NAMES, {
    name: 'troupe-playwright',
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  // The session thread decides how long the process lives.
  worker.unref();
  const ended = new AbortController();
  const thread = { worker, calls: wrap<PlaywrightCalls>(nodeEndpoint(worker)), ended: ended.signal };
  let reason: string | null = null;
  let hasLoaded = false;
  worker.on('error', (error) => {
    reason = endReason(error, MAX_HEAP_MB);
  });
  worker.once('exit', (code) => {
    if (running === thread) running = null;
    const what = hasLoaded ? 'ended' : 'could not start';
    const message = `The Playwright thread ${what}: ${reason ?? `it exited with code ${code}`}; try again`;
    if (!hasLoaded) noteThread(NAMES.part, message);
    ended.abort(new TroupeError('SESSION_RESTARTED', message));
  });
  void thread.calls.ping().then(() => {
    hasLoaded = true;
    noteThread(NAMES.part, null);
  });
  running = thread;
  return thread;
}

/** Ends a thread that does not answer; its sessions connect again to the next one. */
export async function replaceIfStuck(thread: RunningThread): Promise<void> {
  if (thread.ended.aborted || (await settlesWithin(thread.calls.ping(), ANSWER_MS))) return;
  if (running?.calls !== thread.calls) return;
  const { worker } = running;
  running = null;
  await worker.terminate();
}
