import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Playwright's page in a browser, driven from a thread of its own, as its users have it in a process of its own: it has Node
 * follow each promise of its thread, and ours would pay for that.
 */
export class PlaywrightThread {
  #worker;

  constructor(worker) {
    this.#worker = worker;
  }

  static async open(cdpUrl) {
    const worker = new Worker(new URL('./playwright-page.thread.mjs', import.meta.url), { workerData: { cdpUrl } });
    await once(worker, 'message');
    return new PlaywrightThread(worker);
  }

  /**
   * Runs a function of `(page, ...args)` there, which sees nothing else: it goes as its text, as those of `page.evaluate` do.
   * Answers its value, and how many milliseconds it took. One at a time.
   */
  async run(work, ...args) {
    this.#worker.postMessage({ source: String(work), args });
    const [{ error, value, ms }] = await once(this.#worker, 'message');
    if (error !== undefined) throw new Error(error);
    return { value, ms };
  }

  /** Lets go of the browser, and ends the thread. */
  async close() {
    const gone = once(this.#worker, 'exit');
    this.#worker.postMessage({});
    await gone;
  }
}
