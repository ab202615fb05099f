import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Clients that send one request after another, each on a connection of its own, in a thread of their own. They write
 * bytes and read a status, a length and a body, so that they cost little beside what they measure.
 */
export class HttpLoad {
  #worker = new Worker(new URL('./http-load.thread.mjs', import.meta.url));

  /**
   * @param requests one client for each: `{port, path, body}`; without a body it is a GET
   * @param durationMs how long they go on, at least
   * @param least and how many requests they make together, at least
   * @returns the milliseconds of each request, how many there were a second, and what each cost this process, with its
   *   threads and these clients, in microseconds of processor time
   */
  async run(requests, durationMs, least = 0) {
    const before = process.cpuUsage();
    this.#worker.postMessage({ requests, durationMs, least });
    const [{ error, samples, perSecond }] = await once(this.#worker, 'message');
    if (error !== undefined) throw new Error(error);
    const { user, system } = process.cpuUsage(before);
    return { samples: [...samples], perSecond, costUs: (user + system) / samples.length };
  }

  close() {
    return this.#worker.terminate();
  }
}
