import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Asks at a steady pace, in a thread of its own: how long a client waits who comes at any moment, also while the service
 * answers nothing. Give it back with `close`.
 */
export class PacedProbe {
  #worker = new Worker(new URL('./paced-probe.thread.mjs', import.meta.url));

  /**
   * @param requests each is asked every `everyMs`: `{port, method, path, body}`
   * @returns for each request the milliseconds that its answers took from the moment at which it was due
   */
  async run(requests, { everyMs, durationMs }) {
    this.#worker.postMessage({ requests, everyMs, durationMs });
    const [{ error, samples }] = await once(this.#worker, 'message');
    if (error !== undefined) throw new Error(error);
    return samples;
  }

  close() {
    return this.#worker.terminate();
  }
}
