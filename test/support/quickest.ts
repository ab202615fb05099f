/**
 * The milliseconds that the quickest of a few tries took; the first within `enoughMs` is the last. Of work that would
 * wait in vain every time if it were wrong: a busy machine makes some tries slow, a fault all of them.
 */
export async function quickest(enoughMs: number, work: () => Promise<unknown>, tries = 10): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < tries && best > enoughMs; tried += 1) {
    const startedAt = performance.now();
    await work();
    best = Math.min(best, performance.now() - startedAt);
  }
  return best;
}
