import { Session } from 'node:inspector/promises';
import { setTimeout as pass } from 'node:timers/promises';

/** What a thread may take for it. One that sleeps until it has an order does not answer, so nobody waits for answers. */
const COLLECTED_MS = 2_000;
const COLLECT = 'HeapProfiler.collectGarbage';

/**
 * Collects what is garbage in this thread and in all others whose event loop turns, and gives their free pages back: what is
 * left is held. Without it the memory of a process rises and falls with the moment at which each thread last collected.
 * https://chromedevtools.github.io/devtools-protocol, with Node's own domain for worker threads.
 */
export async function collectGarbage() {
  const session = new Session();
  session.connect();
  session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => {
    const message = JSON.stringify({ id: 1, method: COLLECT });
    session.post('NodeWorker.sendMessageToWorker', { sessionId, message }).catch(() => undefined);
  });
  try {
    await session.post(COLLECT);
    await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
    await pass(COLLECTED_MS);
    await session.post('NodeWorker.disable');
  } finally {
    session.disconnect();
  }
}
