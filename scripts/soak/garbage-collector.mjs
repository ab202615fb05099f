import { Session } from 'node:inspector/promises';
import { setTimeout as pass } from 'node:timers/promises';

/** What a thread may take for it. One that sleeps until it has an order does not answer, so nobody waits for answers. */
const COLLECTED_MS = 2_000;
const COLLECT = 'HeapProfiler.collectGarbage';

/** The inspector of this process: https://chromedevtools.github.io/devtools-protocol, with Node's own domain for worker threads. */
export class GarbageCollector {
  #session = new Session();
  /** The inspector's sessions in threads that live. */
  #threads = new Set();

  /** Attaches to all threads, those to come too. Once, since each time leaves 30 KB of native memory behind. */
  async attach() {
    this.#session.connect();
    this.#session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => this.#threads.add(sessionId));
    this.#session.on('NodeWorker.detachedFromWorker', ({ params: { sessionId } }) => this.#threads.delete(sessionId));
    await this.#session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  }

  /**
   * Collects what is garbage in this thread and in all others whose event loop turns, and gives their free pages back: what is
   * left is held. Without it the memory of a process rises and falls with the moment at which each thread last collected.
   */
  async collect() {
    await this.#session.post(COLLECT);
    const message = JSON.stringify({ id: 1, method: COLLECT });
    for (const sessionId of this.#threads) {
      this.#session.post('NodeWorker.sendMessageToWorker', { sessionId, message }).catch(() => undefined);
    }
    await pass(COLLECTED_MS);
  }
}
