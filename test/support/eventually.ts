import { setTimeout as nextTry } from 'node:timers/promises';

/** Asks every 20 ms until the answer is true; throws with `what` after `deadlineMs`. For what tells nobody of itself. */
export async function eventually(
  what: string,
  asked: () => boolean | Promise<boolean>,
  deadlineMs = 60_000,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await asked())) {
    if (performance.now() > deadline) throw new Error(`Not within ${deadlineMs} ms: ${what}`);
    await nextTry(20);
  }
}
