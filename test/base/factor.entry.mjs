// Prints how long a limit of 10 ms is here, and in threads that are started as the product starts its own.
import { once } from 'node:events';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { stretched } from '#troupe/base/deadline.js';

/** What the pool calls. */
export const report = () => stretched(10);

if (isMainThread) {
  const filename = new URL(import.meta.url);
  const bare = { execArgv: [], env: {} };
  const worker = new Worker(filename, { ...bare, workerData: 'report' });
  const [inThread] = await once(worker, 'message');
  const pool = new Piscina({ filename: filename.href, maxThreads: 1, ...bare });
  const inPool = await pool.run(null, { name: 'report' });
  await pool.destroy();
  console.log(JSON.stringify([stretched(10), inThread, inPool]));
} else parentPort?.postMessage(stretched(10));
