import type { QueuedJob } from '../sessions/index.js';

/** Queued jobs that are ended concurrently. */
const ENDED_AT_ONCE = 16;

/** Ends jobs a few at a time, because each is read from the disk. @throws the first error, after all were tried */
export async function endAll(jobs: readonly QueuedJob[], end: (job: QueuedJob) => Promise<void>): Promise<void> {
  const left = jobs.values();
  const errors: unknown[] = [];
  const endNext = async () => {
    for (const job of left) await end(job).catch((error) => errors.push(error));
  };
  await Promise.all(Array.from({ length: ENDED_AT_ONCE }, endNext));
  if (errors.length > 0) throw errors[0];
}
