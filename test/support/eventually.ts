import { setTimeout as nextTry } from 'node:timers/promises';
import { stretched } from '#troupe/base/deadline.js';

/** Asks every 20 ms until the answer is true; throws with `what` after `deadlineMs`. For what tells nobody of itself. */
export async function eventually(
  what: string,
  asked: () => boolean | Promise<boolean>,
  deadlineMs = 60_000,
): Promise<void> {
  const limitMs = stretched(deadlineMs);
  const deadline = performance.now() + limitMs;
  while (!(await asked())) {
    if (performance.now() > deadline) throw new Error(`Not within ${limitMs} ms: ${what}`);
    await nextTry(20);
  }
}
